# Texts of the letters, in Indonesian. Plain words, sentence case.

## In every letter
sandbox-notice = Mode uji coba: tidak ada uang sungguhan yang berpindah.
sender-shop = Email ini dikirim oleh { $name } melalui Lunas di { $host }.
sender-installation = Email ini dikirim oleh Lunas di { $host }.
contacts = Ada pertanyaan? Hubungi kami:
address-of-link = Atau salin alamat ini ke peramban Anda:
why-security = Email tentang keamanan akun selalu dikirim dan tidak bisa dimatikan.
why-member = Anda menerima email ini sebagai anggota proyek. Email mana yang Anda terima bisa dipilih di dasbor.
why-operator = Anda menerima email ini sebagai operator. Email mana yang Anda terima bisa dipilih di dasbor.
browser-unknown = Tidak dikenal
from-server = Perintah operator di server
link-is-yours = Tautan ini hanya untuk Anda dan hanya berlaku satu kali. Jangan teruskan email ini.
account-action = Buka halaman akun

## Labels of facts
fact-account = Akun
fact-time = Waktu
fact-address = Alamat IP
fact-from = Dari
fact-browser = Perangkat
fact-expires-at = Berlaku sampai
fact-project = Proyek
fact-role = Peran
fact-invited-by = Diundang oleh
fact-item = Untuk
fact-paid-at = Dibayar pada
fact-method = Metode pembayaran
fact-reference = Referensi
fact-payment = ID pembayaran
fact-refund-reason = Alasan
fact-destination = Rekening tujuan
fact-refunded-at = Dikembalikan pada
fact-way = Dikembalikan lewat
fact-asked-by = Diminta oleh
fact-asked-at = Diminta pada
fact-received-at = Diterima pada
fact-webhook-url = Alamat webhook
fact-failing-since = Gagal sejak
fact-waiting = Menunggu dikirim
fact-last-answer = Jawaban terakhir
fact-bank-account = Rekening bank
fact-last-error = Kegagalan terakhir
fact-period = Periode
fact-paid-count = Pembayaran lunas
fact-day-before = Hari sebelumnya
fact-week-before = Minggu sebelumnya
fact-held = Menunggu keputusan
fact-installation = Alamat Lunas

## A customer's receipt
receipt-subject = Pembayaran { $amount } ke { $merchant } sudah diterima
receipt-heading = Pembayaran diterima
receipt-text = Terima kasih. Pembayaran Anda ke { $merchant } sudah diterima.
receipt-action = Lihat bukti pembayaran
receipt-not-you = Bukan Anda yang membayar?
receipt-not-you-text = Mungkin seseorang salah menulis alamat emailnya. Anda tidak perlu melakukan apa pun.
claim-subject = { $merchant } mengembalikan { $amount }: isi rekening tujuan
claim-heading = Ke rekening mana uang Anda dikembalikan?
claim-text = { $merchant } mengembalikan uang Anda lewat transfer bank. Isi rekening tujuan di halaman berikut.
claim-action = Isi rekening tujuan
claim-never = Kami tidak pernah meminta PIN, kata sandi, atau kode OTP.
refund-subject = { $merchant } sudah mengembalikan { $amount }
refund-heading = Uang dikembalikan
refund-text = { $merchant } sudah mengembalikan uang Anda. Bank kadang perlu waktu sampai uang terlihat di rekening.
receipt-why = Anda menerima email ini karena alamat ini ditulis saat membayar.

## An invitation
invitation-subject = Undangan ke proyek { $project }
invitation-heading = Anda diundang ke sebuah proyek
invitation-text = Anda diundang menjadi anggota proyek { $project } di Lunas.
invitation-text-by = { $inviter } mengundang Anda menjadi anggota proyek { $project } di Lunas.
invitation-action = Lihat undangan
invitation-not-you = Tidak kenal pengirimnya?
invitation-not-you-text = Abaikan saja email ini. Selama undangannya tidak diterima, tidak ada yang terjadi.
invitation-why = Anda menerima email ini karena alamat ini diundang ke proyek tersebut.

role-owner = Pemilik
role-developer = Pengembang
role-viewer = Peninjau
role-cashier = Kasir

## A new password
reset-subject = Buat kata sandi baru
reset-text = Seseorang meminta kata sandi baru untuk akun Anda. Jika itu Anda, buat kata sandinya lewat tautan ini.
reset-action = Buat kata sandi baru
reset-once = Tautan ini hanya untuk Anda dan hanya berlaku satu kali. Setelah kata sandi diganti, semua sesi berakhir dan Anda masuk lagi dengan kata sandi baru.
reset-not-you = Bukan Anda yang meminta?
reset-not-you-text = Abaikan saja email ini: kata sandi Anda tidak berubah selama tautannya tidak dipakai. Jangan berikan tautan ini kepada siapa pun, juga kepada yang mengaku dari kami.

password-subject = Kata sandi Anda diganti
password-by-old = Kata sandi akun Anda diganti oleh seseorang yang tahu kata sandi lamanya. Semua sesi lain sudah diakhiri.
password-by-link = Kata sandi akun Anda diganti lewat tautan kata sandi baru. Semua sesi sudah diakhiri.
password-by-operator = Kata sandi akun Anda diganti oleh operator di server. Semua sesi sudah diakhiri.
password-action = Minta kata sandi baru
password-not-you = Bukan Anda yang mengganti?
password-not-you-text = Segera minta kata sandi baru, lalu beri tahu operator Anda: orang lain mungkin bisa masuk ke akun Anda.

## A browser that is not known
device-subject = Ada yang masuk ke akun Anda dari perangkat baru
device-text = Seseorang masuk ke akun Anda dari peramban yang belum kami kenal. Jika itu Anda, tidak ada yang perlu dilakukan.
device-not-you = Bukan Anda?
device-not-you-text = Orang itu tahu kata sandi Anda. Segera akhiri sesinya di halaman akun, ganti kata sandi, lalu beri tahu operator Anda.

## The second factor
factor-added = Faktor kedua diaktifkan
factor-added-text = Mulai sekarang, masuk ke akun Anda memerlukan kata sandi dan kode dari aplikasi autentikator.
factor-removed = Faktor kedua dimatikan
factor-removed-text = Mulai sekarang, kata sandi saja cukup untuk masuk ke akun Anda.
factor-codes-renewed = Kode pemulihan diperbarui
factor-codes-renewed-text = Kode pemulihan yang baru sudah dibuat. Kode yang lama tidak berlaku lagi.
factor-code-used = Kode pemulihan dipakai
factor-code-used-text = Seseorang masuk ke akun Anda dengan kode pemulihan. Kode yang tersisa: { $left }.
factor-lift-asked = Faktor kedua akan dimatikan
factor-lift-asked-text = Operator diminta mematikan faktor kedua akun Anda. Itu terjadi pada { $at }. Setelah itu kata sandi saja cukup untuk masuk.
factor-lifted = Faktor kedua dimatikan oleh operator
factor-lifted-text = Operator mematikan faktor kedua akun Anda. Mulai sekarang, kata sandi saja cukup untuk masuk; aktifkan lagi secepatnya.
factor-not-you = Bukan Anda?
factor-not-you-text = Segera ganti kata sandi dan akhiri semua sesi di halaman akun, lalu beri tahu operator Anda.
factor-lift-not-you-text = Segera pertahankan faktor kedua di halaman akun, lalu ganti kata sandi Anda dan beri tahu operator.

## A webhook that fails
webhook-subject = Webhook { $project } gagal terkirim
webhook-heading = Webhook gagal terkirim
webhook-text = Server Anda sudah lebih dari satu jam tidak menerima webhook kami. Pembayaran tetap tercatat, tetapi sistem Anda belum tahu.
webhook-waiting = { $count } notifikasi
webhook-action = Lihat penyebabnya
webhook-retried = Webhook terus dicoba lagi dengan jeda yang makin panjang. Setelah server Anda pulih, webhook yang tertunda bisa juga dikirim ulang di dasbor.

## Money that fits no payment
held-subject = { $amount } menunggu keputusan di { $project }
held-heading = Uang menunggu keputusan
held-text = Uangnya sudah diterima, tetapi belum dipakai untuk pembayaran mana pun. Putuskan apakah uang itu diterima atau dikembalikan.
held-action = Lihat uangnya
held-who = Hanya pemilik proyek yang bisa memutuskan.
held-wrong-amount = Ada uang masuk yang jumlahnya tidak sama dengan tagihannya.
held-already-paid = Ada uang masuk untuk pembayaran yang sudah lunas.
held-link-claimed = Ada uang masuk untuk tautan yang sudah dibayar lewat pembayaran lain.
held-too-late = Ada uang masuk setelah batas waktu pembayarannya lewat.
held-receipt-reused = Ada uang masuk dengan nomor yang sudah dipakai bank untuk pembayaran lain.

## A refund that waits for an approval
approval-subject = Pengembalian { $amount } menunggu persetujuan di { $project }
approval-heading = Pengembalian menunggu persetujuan
approval-text = Uangnya baru dikembalikan setelah disetujui orang lain, bukan oleh yang meminta atau yang mengisi rekeningnya. Periksa jumlah dan tujuannya.
approval-same-way = Jalan yang sama seperti uangnya datang
approval-action = Lihat pengembalian
approval-owners = Hanya pemilik proyek yang tidak memintanya dan tidak mengisi rekeningnya, atau operator, yang bisa menyetujui.
approval-operators = Tidak ada pemilik proyek yang bisa menyetujui, jadi operator yang diminta.
asked-by-key = Kunci API

## A bank that does not answer
bank-subject = Bank tidak menjawab: { $account }
bank-heading = Bank tidak menjawab
bank-text = Panggilan kami ke bank ini terus gagal. Kode pembayaran baru mungkin tidak bisa dibuat.
bank-action = Lihat keadaan rekening
bank-paid = Pembayaran yang sudah dilakukan tidak hilang: kami menanyakannya lagi begitu bank menjawab.

## Summaries
summary-daily-subject = Kemarin di { $project }: { $sum }
summary-daily = Ringkasan harian
summary-weekly-subject = Minggu lalu di { $project }: { $sum }
summary-weekly = Ringkasan mingguan
summary-count = { $count } pembayaran
summary-held = { $count } penerimaan
summary-action = Buka dasbor

## A test
test-subject = Email uji coba dari Lunas
test-text = Email dari Lunas sampai ke alamat ini.
test-why = Anda menerima email ini karena operator mencoba pengiriman email.
notice-test-subject = Notifikasi uji coba dari Lunas
notice-test-text = Notifikasi dari Lunas sampai ke alamat ini.
