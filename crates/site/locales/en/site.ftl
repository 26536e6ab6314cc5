# Texts of the home page and of what surrounds the documentation, in English. Guides themselves are in `docs`.

## On every page

skip = Skip to the content
nav = Pages
menu-operations = All operations
menu = All guides
docs = Docs
reference = API reference
dashboard = Dashboard
language-switch = Bahasa Indonesia
footer = Lunas: payments in rupiah, on your own server
copy = Copy
copied = Copied

## Searching

search-label = Search the docs
search-placeholder = Search the docs
search-go = Search
search-title = Search: { $query }
search-empty = Type one or more words, such as “webhook signature”.
search-nothing = No guide has these words. Try fewer or other words, or look through all guides.
search-full = There may be more. Add a word to narrow the search.
search-list = All guides

## The home page

home-title = Payments in rupiah
home-heading = Take payments in rupiah by QRIS and virtual account
home-text = This server creates payments, shows customers where to pay, and notifies your shop when the money is there.
home-development = This installation is for development: no real money moves.
home-first = Your first payment
home-first-text = From an empty folder to a paid order, step by step.
home-docs-text = Guides for payments, payment links, webhooks and for running the server.
home-reference-text = Every endpoint, field and error code, with examples in five languages.
home-dashboard-text = Sign in to see payments, create links and manage API keys.
home-api = Programs reach the API at
home-customer = Do you want to pay for something? Open the link that the shop has sent you.

## The list of guides

list-heading = Documentation
list-text = Start with your first payment. Each guide says at its top what it is about.
group-start = Start here
group-integrate = For developers of a shop
group-sell = For shops
group-operate = For operators
group-inside = How Lunas works inside

## A guide

guide-contents = On this page
guide-onward = More guides
guide-previous = Before this
guide-next = Next
guide-translated = Read this page in English
guide-not-translated = This page exists in Indonesian only.

## Problems

problem-missing = Page not found
problem-missing-text = The address may be mistyped, or the page has another name now.
problem-refused = This request cannot be answered
problem-refused-text = It is not one that our pages send. Start again from the home page.
problem-failed = Something failed on our side
problem-failed-text = Wait a moment, then try again. If it happens again, give the reference below to the operator.
problem-reference = Reference for support:
problem-next = To the home page
