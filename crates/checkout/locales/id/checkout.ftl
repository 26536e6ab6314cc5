# Texts of the checkout pages, in Indonesian. Customers are addressed as "Anda"; sentence case, everyday words for paying.

## On every page

sandbox-stripe = Mode uji coba — tidak ada uang yang berpindah
rehearsal-stripe = Latihan: bukan uang sungguhan
language-switch = English
footer = Pembayaran aman lewat Lunas

## What is being paid for

amount-label = Total pembayaran
order-details = Rincian pesanan
payee = Penerima
item = Untuk
reference = Referensi
payment-id = ID pembayaran
contacts = Ada pertanyaan?
method = Cara bayar
received-label = Uang yang diterima
bill-label = Tagihan
paid-at = Waktu bayar

## Choosing how to pay

choose-title = Bayar { $amount }
choose-title-mistakes = Periksa isian Anda
choose-heading = Pembayaran untuk { $merchant }
choose-method = Pilih cara bayar
method-qris = QRIS
method-qris-hint = Semua dompet digital dan aplikasi bank
method-banks = Transfer virtual account
method-down = Sedang gangguan
method-none = Semua cara bayar sedang gangguan. Silakan coba lagi beberapa menit lagi.
method-missing = Pilih salah satu cara bayar.
customer = Data Anda
field-name = Nama lengkap
field-email = Email
field-phone = Nomor HP
field-address = Alamat lengkap
mistake-missing = Bagian ini perlu diisi.
mistake-too-long = Terlalu panjang, paling banyak { $most } karakter.
mistake-name = Ada karakter yang tidak bisa dipakai. Tulis ulang namanya.
mistake-email = Periksa lagi alamat emailnya, misalnya nama@contoh.com.
mistake-phone = Periksa lagi nomornya, misalnya 0812 3456 7890.
mistake-address = Ada karakter yang tidak bisa dipakai. Tulis ulang alamatnya.
notice-mistakes = Ada yang perlu diperbaiki. Periksa bagian yang ditandai, lalu kirim lagi.
notice-method-down = Cara bayar tadi sedang gangguan, jadi belum ada kode yang dibuat. Silakan pilih cara lain.
replaces = Kode bayar yang lama akan dibatalkan begitu Anda memilih cara baru.
replaces-back = Kembali ke kode lama
pay-button = Bayar { $amount }
pay-busy = Memproses…

## Pending payments

pending-title = Menunggu pembayaran · { $method }
time-left = Sisa waktu
time-days = { $days } hari
time-five = Sisa waktu 5 menit.
time-one = Sisa waktu 1 menit.
pay-before = Bayar sebelum
waiting = Menunggu pembayaran
waiting-script = Halaman ini akan berubah sendiri begitu pembayaran diterima.
check-status = Cek status
change-method = Ganti cara bayar
change-hint = Kode ini akan dibatalkan jika Anda memilih cara lain.
change-closed = Cara bayar tidak bisa diganti saat ini.
change-not-allowed = Cara bayar ini ditentukan oleh { $merchant } dan tidak bisa diganti di sini.

## QRIS

qris-heading = Pindai QRIS untuk membayar
qris-image = Kode QRIS untuk membayar { $amount } ke { $merchant }
qris-enlarge = Perbesar
qris-close = Tutup
qris-download = Simpan QR
qris-share = Bagikan
qris-other-device = Halaman ini dibuka di perangkat lain
qris-other-device-1 = Buka aplikasi dompet digital atau aplikasi bank di HP Anda.
qris-other-device-2 = Pilih menu QRIS, lalu arahkan kamera ke kode di atas.
qris-other-device-3 = Pastikan nama { $merchant } dan jumlah { $amount } sudah benar, lalu bayar.
qris-this-phone = Halaman ini dibuka di HP ini
qris-this-phone-1 = Simpan gambar QR di atas, atau ambil tangkapan layar.
qris-this-phone-2 = Buka aplikasi dompet digital atau aplikasi bank, pilih QRIS, lalu unggah gambar dari galeri.
qris-this-phone-3 = Pastikan nama { $merchant } dan jumlah { $amount } sudah benar, lalu bayar.

## Virtual account

account-heading = Transfer ke virtual account
account-number = Nomor virtual account
account-amount = Jumlah transfer
account-exact = Transfer persis sejumlah ini. Jika kurang atau lebih, bank bisa menolaknya.
account-steps = Langkah pembayaran
copy = Salin
copied = Tersalin

## Payments that are no longer pending

paid-title = Lunas
paid-heading = Lunas. Terima kasih!
paid-text = Pembayaran Anda ke { $merchant } sudah diterima.
paid-close = Anda boleh menutup halaman ini.
paid-stamp = Lunas
print = Cetak bukti (A4)
processing-title = Sedang diproses
processing-heading = Pembayaran sedang diproses
processing-warning = Jangan bayar lagi.
processing-text = Bank sudah mencatat pembayaran Anda dan sedang memastikannya. Biasanya hanya sebentar.
processing-script = Halaman ini akan berubah sendiri setelah selesai.
expired-title = Waktu habis
expired-heading = Waktu pembayaran habis
expired-text = Kode bayar ini tidak berlaku lagi. Jangan memakainya untuk membayar.
expired-deadline = Batas waktunya
failed-title = Gagal
failed-heading = Pembayaran gagal
failed-text = Pembayaran ini tidak diselesaikan oleh bank atau aplikasi Anda.
cancelled-title = Dibatalkan
cancelled-heading = Pembayaran dibatalkan
cancelled-text = Kode bayar ini dibatalkan dan tidak berlaku lagi. Jangan memakainya untuk membayar.
already-paid-question = Sudah telanjur membayar?
expired-already-paid =
    Uang yang masuk sebelum batas waktu tetap dihitung: buka lagi halaman ini sebentar lagi. Jika tidak berubah juga, hubungi
    { $merchant } dan sebutkan ID pembayaran di bawah.
unpaid-already-paid =
    Jika saldo Anda terpotong, jangan bayar dua kali. Hubungi { $merchant } dan sebutkan ID pembayaran di bawah.
again-expired = Minta kode baru
again-failed = Coba lagi
again-cancelled = Pilih cara bayar
again-none = Masih ingin membayar? Minta tagihan baru kepada { $merchant }.

## Money that came but did not pay

held-title = Uang Anda sudah sampai
held-decided-title = Tentang uang Anda
held-late = { $amount } sampai setelah batas waktu; { $merchant } akan menghubungi Anda.
held-cancelled = { $amount } sampai setelah pembayaran ini dibatalkan; { $merchant } akan menghubungi Anda.
held-amount = { $amount } sampai, tetapi tagihannya { $due }; { $merchant } akan menghubungi Anda.
held-twice = { $amount } sampai lagi, padahal tagihan ini sudah lunas; { $merchant } akan menghubungi Anda.
held-link-paid = { $amount } sampai, padahal tagihan ini sudah dilunasi dengan pembayaran lain; { $merchant } akan menghubungi Anda.
held-unclear = { $amount } sampai dan sedang diperiksa; { $merchant } akan menghubungi Anda.
held-returned = { $merchant } sudah mengembalikan { $amount } kepada Anda.
held-on-its-way = { $merchant } sedang mengembalikan { $amount } kepada Anda.
held-elsewhere = { $merchant } memakai { $amount } ini untuk tagihan lain.
held-ask = Jangan membayar lagi sebelum bertanya kepada { $merchant }. Sebutkan ID pembayaran Anda.

## Links that take no payments

closed-cancelled-title = Tagihan dibatalkan
closed-cancelled-heading = Tagihan ini dibatalkan
closed-cancelled-text = { $merchant } membatalkan tagihan ini, jadi tidak ada yang perlu dibayar. Jika menurut Anda ini keliru, hubungi { $merchant }.
closed-inactive-title = Tidak aktif
closed-inactive-heading = Tagihan ini tidak aktif
closed-inactive-text = Masa berlakunya sudah lewat, atau { $merchant } sedang tidak menerima pembayaran. Minta tautan baru kepada { $merchant }.
closed-already-paid-title = Sudah lunas
closed-already-paid-heading = Tagihan ini sudah lunas
closed-already-paid-text = Tidak ada lagi yang perlu dibayar. Jika bukan Anda yang membayar, tanyakan kepada { $merchant }.
closed-being-paid-title = Sedang dibayar
closed-being-paid-heading = Tagihan ini sedang dibayar
closed-being-paid-text = Bank sedang memproses sebuah pembayaran untuk tagihan ini. Jangan bayar lagi. Silakan cek kembali sebentar lagi.
closed-no-method-title = Belum bisa dibayar
closed-no-method-heading = Toko ini belum bisa menerima pembayaran lewat tautan ini
closed-no-method-text = Tidak ada yang salah dengan ponsel atau bank Anda, dan mencoba lagi tidak akan membantu. Silakan hubungi { $merchant } dan tanyakan cara membayarnya.

## No room for one more attempt

try-later-title = Coba lagi nanti
try-later-heading = Tagihan ini terlalu sering dicoba
try-later-text = Terlalu banyak pembayaran sudah dimulai untuk tagihan ini, jadi yang baru belum bisa dimulai. Pembayaran yang sudah Anda mulai tetap berlaku.
try-later-until = Silakan coba lagi setelah

## Errors

problem-not-found-title = Tidak ditemukan
problem-not-found-heading = Halaman tidak ditemukan
problem-not-found-text = Tautan ini tidak lengkap atau salah ketik. Buka lagi tautan yang Anda terima dari penjual, atau minta yang baru.
problem-forbidden-title = Ditolak
problem-forbidden-heading = Permintaan ini tidak bisa diterima
problem-forbidden-text = Permintaannya datang dari situs lain. Demi keamanan Anda, mulai lagi dari halaman pembayaran kami.
problem-too-many-title = Terlalu sering
problem-too-many-heading = Terlalu banyak permintaan
problem-too-many-text = Tunggu sebentar, lalu coba lagi. Pembayaran yang sudah dilakukan tetap tercatat.
problem-not-understood-title = Tidak terbaca
problem-not-understood-heading = Permintaan ini tidak bisa dibaca
problem-not-understood-text = Ada bagian formulir yang hilang atau rusak. Buka lagi halaman pembayaran, lalu ulangi dari sana.
problem-unavailable-title = Sedang gangguan
problem-unavailable-heading = Layanan sedang terganggu
problem-unavailable-text = Tunggu sebentar, lalu coba lagi. Mencoba lagi tidak membuat Anda membayar dua kali, dan pembayaran yang sudah masuk tetap tercatat.
problem-broken-title = Terjadi kesalahan
problem-broken-heading = Ada yang salah di pihak kami
problem-broken-text = Kesalahannya sudah kami catat. Jika Anda sudah membayar, jangan bayar lagi: pembayaran Anda tetap tercatat.
problem-reopen = Buka halaman pembayaran
problem-retry = Coba lagi
problem-reference = Kode bantuan

## Sandbox only

simulate = Simulasi uji coba
simulate-text = Pilih apa yang terjadi pada pembayaran ini. Panel ini hanya ada di mode uji coba.
simulate-paid = Bayar
simulate-failed = Gagalkan
simulate-processing = Tandai diproses

## Choosing the quantity or the amount

price-each = Harga satuan
price-open = Anda yang menentukan jumlahnya
price-quantity = Banyaknya
price-quantity-range = Pilih 1 sampai { $most }.
price-amount = Jumlah yang Anda bayar
price-amount-range = Dari { $least } sampai { $most }.
price-pay = Bayar
price-not-a-number = Tulis dengan angka saja.
price-outside = Di luar batas yang diterima.
price-too-little = Cara bayar ini menerima paling sedikit { $least }. Ubah jumlahnya atau pilih cara lain.
price-too-much = Cara bayar ini menerima paling banyak { $most }. Ubah jumlahnya atau pilih cara lain.

## The way back to the merchant

back-to = Kembali ke { $merchant }
back-leaving = Anda akan kembali ke { $merchant } sebentar lagi.
back-stay = Tetap di halaman ini
back-stayed = Anda tetap di halaman ini.
# Menghubungi toko

contact-whatsapp = Hubungi { $merchant } lewat WhatsApp
contact-phone = Hubungi { $merchant } lewat telepon
contact-email = Hubungi { $merchant } lewat email
contact-site = Hubungi { $merchant } lewat situsnya
## A status that was looked up

looked-pending = Dicek pukul { $time } WIB: belum ada pembayaran masuk.
looked-processing = Dicek pukul { $time } WIB: masih diproses.
looked-failed = Tidak bisa dicek. Periksa sambungan internet Anda, lalu coba lagi.

## Account numbers in parts

account-company-code = Kode perusahaan
account-customer-number = Nomor pelanggan
account-institution-code = Kode institusi
account-payment-code = Kode bayar
account-whole-number = Nomor virtual account lengkap

## Payments that were cancelled, by reason

replaced-title = Kode diganti
replaced-heading = Kode bayar ini sudah diganti
replaced-text = Anda memilih cara bayar lain, jadi kode ini tidak berlaku lagi.
withdrawn-title = Kode dibatalkan
superseded-title = Sudah dibayar
again-replaced = Lanjutkan pembayaran

## Receipts

pay-again = Bayar lagi
print-slip = Struk 80 mm
slip-title = Bukti pembayaran
slip-print = Cetak struk
slip-back = Kembali ke bukti lengkap
slip-help = Untuk mencetak, pilih menu cetak di peramban Anda, lalu pilih kertas 80 mm tanpa margin.

## How chats show a link

preview-pay = Bayar { $amount } ke { $shop }.
preview-paid = Sudah lunas. Terima kasih dari { $shop }.
preview-paid-note = Sudah lunas
preview-closed = Tautan ini tidak menerima pembayaran lagi.
preview-how = Bayar dengan QRIS atau virtual account

## A claim link: where money that comes back shall go

claim-title = Terima kembali { $amount }
claim-heading = { $merchant } mengembalikan uang Anda
claim-amount-label = Jumlah yang dikembalikan
claim-from = Dari
claim-reason = Alasan
claim-where = Ke rekening mana uangnya dikirim?
claim-bank = Bank
claim-bank-choose = Pilih bank
claim-bank-common = Paling sering dipilih
claim-bank-others = Bank lain
claim-bank-missing = Pilih bank dari daftar.
claim-bank-out-of-reach = Bank ini tidak bisa menerima transfer sebesar { $amount }. Pilih bank lain.
claim-number = Nomor rekening
claim-number-malformed = Tulis 5 sampai 20 angka, tanpa huruf.
claim-number-refused = Bank tidak menemukan rekening ini, atau rekeningnya tidak bisa menerima transfer. Periksa lagi bank dan nomornya.
claim-check = Lanjut
claim-wait = Terlalu banyak rekening diperiksa dari jaringan Anda. Coba lagi mulai pukul { $time } WIB.
claim-checking = Memeriksa…
claim-next = Uang baru dikirim setelah Anda memeriksa dan mengonfirmasi rekeningnya di langkah berikutnya.
claim-safe = Kami tidak pernah meminta PIN, kata sandi, atau kode OTP.
claim-open-until = Tautan ini berlaku sampai
claim-confirm-title = Periksa rekening Anda
claim-confirm-heading = Apakah ini rekening Anda?
claim-confirm-text = Setelah Anda konfirmasi, rekening tujuan tidak bisa diganti lagi lewat tautan ini.
claim-holder = Nama pemilik rekening
claim-holder-hint = Nama ini belum bisa kami tanyakan ke bank. Tulis persis seperti di buku tabungan atau aplikasi bank Anda.
claim-confirm = Ya, kirim { $amount } ke sini
claim-change = Bukan, ganti rekening
claim-expired-title = Tautan kedaluwarsa
claim-expired-heading = Tautan ini sudah kedaluwarsa
claim-expired-text = Uang Anda belum dikirim. Minta tautan baru kepada { $merchant }.
claim-exhausted-title = Tautan dikunci
claim-exhausted-heading = Tautan ini terlalu sering dicoba
claim-exhausted-text = Demi keamanan, rekening tidak bisa diisi lagi lewat tautan ini. Uang Anda belum dikirim. Minta tautan baru kepada { $merchant }.
claim-checked-title = Sedang diperiksa toko
claim-checked-heading = { $merchant } sedang memeriksanya
claim-checked-text = Rekening Anda sudah kami catat. Uangnya dikirim setelah { $merchant } selesai memeriksa. Anda tidak perlu mengisi apa-apa lagi.
claim-on-its-way-title = Uang sedang dikirim
claim-on-its-way-heading = Uang Anda sedang dikirim
claim-on-its-way-text = Biasanya hanya beberapa menit. Jika toko mengirimnya sendiri lewat bank, bisa sampai beberapa hari kerja.
claim-script = Halaman ini akan berubah sendiri begitu ada kabar.
claim-succeeded-title = Uang sudah dikirim
claim-succeeded-heading = Uang Anda sudah dikirim
claim-succeeded-text = Periksa mutasi rekening Anda. Anda boleh menutup halaman ini.
claim-failed-title = Pengiriman gagal
claim-failed-heading = Uang belum bisa dikirim
claim-failed-text = Bank menolak pengirimannya, jadi uangnya masih ada di toko. Hubungi { $merchant } dan tanyakan langkah berikutnya.
claim-cancelled-title = Pengembalian dibatalkan
claim-cancelled-heading = Pengembalian ini dibatalkan
claim-cancelled-text = { $merchant } membatalkannya, dan tidak ada uang yang dikirim. Jika menurut Anda ini keliru, hubungi { $merchant }.
claim-returned-title = Uang kembali ke toko
claim-returned-heading = Uang kembali ke toko
claim-returned-text = Bank mengirim balik uangnya, misalnya karena rekeningnya ditutup. Hubungi { $merchant } untuk memberi tahu rekening lain.
claim-late = Rekening tujuan sudah dikonfirmasi sebelumnya, jadi isian Anda yang terakhir tidak dipakai. Jika rekening di bawah bukan milik Anda, segera hubungi toko.
claim-sent-at = Waktu kirim
claim-bank-reference = Nomor referensi bank
claim-looked = Dicek pukul { $time } WIB: belum ada perubahan.

## Money that goes back, on the page of its payment

refund-done-label = Dikembalikan
refund-done = { $amount } pada { $date }
refund-open-label = Akan dikembalikan
refund-on-its-way = { $amount }, sedang dikirim
refund-needs-account = { $amount }, menunggu nomor rekening Anda lewat tautan dari toko
