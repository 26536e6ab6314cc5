# Texts of the home page and of what surrounds the documentation, in Indonesian. Guides themselves are in `docs`.

## On every page

skip = Langsung ke isi
nav = Halaman
menu-operations = Semua operasi
menu = Semua panduan
docs = Dokumentasi
reference = Rujukan API
dashboard = Dasbor
language-switch = English
footer = Lunas: pembayaran rupiah di server Anda sendiri
copy = Salin
copied = Tersalin

## Searching

search-label = Cari di dokumentasi
search-placeholder = Cari di dokumentasi
search-go = Cari
search-title = Pencarian: { $query }
search-empty = Ketik satu kata atau lebih, misalnya “tanda tangan webhook”.
search-nothing = Tidak ada panduan dengan kata-kata ini. Coba kata lain atau lebih sedikit kata, atau lihat semua panduan.
search-full = Mungkin masih ada yang lain. Tambahkan satu kata untuk mempersempit pencarian.
search-list = Semua panduan

## The home page

home-title = Pembayaran rupiah
home-heading = Terima pembayaran rupiah lewat QRIS dan virtual account
home-text = Server ini membuat pembayaran, menunjukkan cara bayar kepada pelanggan, dan memberi tahu toko Anda saat uangnya masuk.
home-development = Instalasi ini untuk pengembangan: tidak ada uang sungguhan yang berpindah.
home-first = Pembayaran pertama Anda
home-first-text = Dari nol sampai pesanan lunas, langkah demi langkah.
home-docs-text = Panduan tentang pembayaran, tautan pembayaran, webhook, dan cara menjalankan server.
home-reference-text = Semua alamat, isian, dan kode kesalahan, dengan contoh dalam lima bahasa pemrograman.
home-dashboard-text = Masuk untuk melihat pembayaran, membuat tautan, dan mengatur kunci API.
home-api = Program memanggil API di
home-customer = Ingin membayar sesuatu? Buka tautan yang dikirim oleh toko.

## The list of guides

list-heading = Dokumentasi
list-text = Mulailah dari pembayaran pertama. Bagian atas setiap panduan menjelaskan isinya.
group-start = Mulai dari sini
group-integrate = Untuk pengembang toko
group-sell = Untuk toko
group-operate = Untuk operator
group-inside = Cara kerja Lunas di dalam

## A guide

guide-contents = Di halaman ini
guide-onward = Panduan lain
guide-previous = Sebelum ini
guide-next = Berikutnya
guide-translated = Baca halaman ini dalam bahasa Indonesia
guide-not-translated = Halaman ini hanya ada dalam bahasa Inggris.

## Problems

problem-missing = Halaman tidak ditemukan
problem-missing-text = Alamatnya mungkin salah ketik, atau halamannya sudah berganti nama.
problem-refused = Permintaan ini tidak bisa dijawab
problem-refused-text = Permintaan seperti ini tidak dikirim oleh halaman kami. Mulai lagi dari halaman depan.
problem-failed = Ada yang salah di pihak kami
problem-failed-text = Tunggu sebentar, lalu coba lagi. Kalau terjadi lagi, sampaikan rujukan di bawah ini kepada operator.
problem-reference = Rujukan untuk bantuan:
problem-next = Ke halaman depan
