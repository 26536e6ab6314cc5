# Texts of the checkout pages, in English. Plain words, sentence case.

## On every page

sandbox-stripe = Test mode — no money moves
rehearsal-stripe = Rehearsal: no real money
language-switch = Bahasa Indonesia
footer = Secure payment by Lunas

## What is being paid for

amount-label = Total
order-details = Order details
payee = Merchant
item = For
reference = Reference
payment-id = Payment ID
contacts = Questions?
method = Payment method
received-label = Received
bill-label = Bill
paid-at = Paid at

## Choosing how to pay

choose-title = Pay { $amount }
choose-title-mistakes = Check your details
choose-heading = Payment to { $merchant }
choose-method = Choose how to pay
method-qris = QRIS
method-qris-hint = Any e-wallet or mobile banking app
method-banks = Virtual account transfer
method-down = Not available right now
method-none = No payment method is available right now. Please try again in a few minutes.
method-missing = Choose a payment method.
customer = Your details
field-name = Full name
field-email = Email
field-phone = Mobile number
field-address = Full address
mistake-missing = Please fill this in.
mistake-too-long = Too long, { $most } characters at most.
mistake-name = Some characters cannot be used. Please type the name again.
mistake-email = Check the email address, for example name@example.com.
mistake-phone = Check the number, for example 0812 3456 7890.
mistake-address = Some characters cannot be used. Please type the address again.
notice-mistakes = Please correct what is marked below, then try again.
notice-method-down = That payment method is not available right now, so no payment code was created. Please choose another one.
replaces = Your old payment code will be cancelled as soon as you choose a new payment method.
replaces-back = Back to the old code
pay-button = Pay { $amount }
pay-busy = Processing…

## Pending payments

pending-title = Waiting for payment · { $method }
time-left = Time left
time-days = { $days } d
time-five = 5 minutes left.
time-one = 1 minute left.
pay-before = Pay before
waiting = Waiting for payment
waiting-script = This page updates by itself once the payment arrives.
check-status = Check status
change-method = Change payment method
change-hint = This code will be cancelled if you choose another method.
change-closed = The payment method cannot be changed at the moment.
change-not-allowed = { $merchant } chose this payment method, so it cannot be changed here.

## QRIS

qris-heading = Scan QRIS to pay
qris-image = QRIS code to pay { $amount } to { $merchant }
qris-enlarge = Enlarge
qris-close = Close
qris-download = Save QR
qris-share = Share
qris-other-device = This page is on another screen
qris-other-device-1 = Open an e-wallet or mobile banking app on your phone.
qris-other-device-2 = Choose Scan or QRIS and point the camera at the code above.
qris-other-device-3 = Check that it says { $merchant } and { $amount }, then pay.
qris-this-phone = This page is on your phone
qris-this-phone-1 = Save the QR image above, or take a screenshot.
qris-this-phone-2 = Open an e-wallet or mobile banking app, choose Scan, then upload the image from your gallery.
qris-this-phone-3 = Check that it says { $merchant } and { $amount }, then pay.

## Virtual account

account-heading = Transfer to a virtual account
account-number = Virtual account number
account-amount = Amount to transfer
account-exact = Transfer exactly this amount. The bank may refuse more or less.
account-steps = How to pay
copy = Copy
copied = Copied

## Payments that are no longer pending

paid-title = Paid
paid-heading = Paid. Thank you!
paid-text = Your payment to { $merchant } has been received.
paid-close = You may close this page.
paid-stamp = Paid
print = Print receipt (A4)
processing-title = Processing
processing-heading = Your payment is being processed
processing-warning = Do not pay again.
processing-text = The bank has registered your payment and is confirming it. This usually takes a moment.
processing-script = This page updates by itself when that is done.
expired-title = Expired
expired-heading = The time to pay has run out
expired-text = This payment code no longer works. Please do not pay with it.
expired-deadline = The deadline was
failed-title = Failed
failed-heading = The payment failed
failed-text = Your bank or app did not complete this payment.
cancelled-title = Cancelled
cancelled-heading = The payment was cancelled
cancelled-text = This payment code was cancelled and no longer works. Please do not pay with it.
already-paid-question = Already paid?
expired-already-paid =
    Money that arrived in time still counts: open this page again in a moment. If it does not change, contact
    { $merchant } and give the payment ID below.
unpaid-already-paid =
    If money left your account, do not pay twice. Contact { $merchant } and give the payment ID below.
again-expired = Get a new code
again-failed = Try again
again-cancelled = Choose how to pay
again-none = Still want to pay? Ask { $merchant } for a new bill.

## Money that came but did not pay

held-title = Your money has arrived
held-decided-title = About your money
held-late = { $amount } arrived after the deadline; { $merchant } will contact you.
held-cancelled = { $amount } arrived after this payment had been cancelled; { $merchant } will contact you.
held-amount = { $amount } arrived, but the bill is { $due }; { $merchant } will contact you.
held-twice = { $amount } arrived once more, although this bill was paid already; { $merchant } will contact you.
held-link-paid = { $amount } arrived, although another payment has already paid this bill; { $merchant } will contact you.
held-unclear = { $amount } arrived and is being looked into; { $merchant } will contact you.
held-returned = { $merchant } has returned { $amount } to you.
held-on-its-way = { $merchant } is returning { $amount } to you.
held-elsewhere = { $merchant } used this { $amount } for another bill.
held-ask = Do not pay again before you have asked { $merchant }. Give them your payment ID.

## Links that take no payments

closed-cancelled-title = Bill cancelled
closed-cancelled-heading = This bill was cancelled
closed-cancelled-text = { $merchant } cancelled this bill, so there is nothing to pay. If you think this is a mistake, contact { $merchant }.
closed-inactive-title = Not active
closed-inactive-heading = This bill is not active
closed-inactive-text = It has expired, or { $merchant } is not taking payments at the moment. Ask { $merchant } for a new link.
closed-already-paid-title = Already paid
closed-already-paid-heading = This bill is already paid
closed-already-paid-text = There is nothing left to pay. If it was not you who paid, ask { $merchant }.
closed-being-paid-title = Being paid
closed-being-paid-heading = This bill is being paid
closed-being-paid-text = The bank is processing a payment for this bill. Do not pay again. Check back in a moment.
closed-no-method-title = Cannot be paid yet
closed-no-method-heading = This shop cannot take payments by this link yet
closed-no-method-text = Nothing is wrong with your phone or your bank, and trying again will not help. Please contact { $merchant } and ask how to pay.

## No room for one more attempt

try-later-title = Try again later
try-later-heading = Too many attempts to pay this bill
try-later-text = Too many payments have been started for this bill, so no new one can be started yet. A payment that you have already started stays valid.
try-later-until = Please try again after

## Errors

problem-not-found-title = Not found
problem-not-found-heading = Page not found
problem-not-found-text = This link is incomplete or mistyped. Open the link from the seller again, or ask for a new one.
problem-forbidden-title = Refused
problem-forbidden-heading = This request cannot be accepted
problem-forbidden-text = It came from another site. To keep you safe, please start again from our payment page.
problem-too-many-title = Too many requests
problem-too-many-heading = Too many requests
problem-too-many-text = Please wait a moment, then try again. Payments already made stay recorded.
problem-not-understood-title = Invalid request
problem-not-understood-heading = This request cannot be read
problem-not-understood-text = Part of the form is missing or damaged. Open the payment page again and repeat it from there.
problem-unavailable-title = Not available
problem-unavailable-heading = The service is having trouble
problem-unavailable-text = Wait a moment, then try again. Trying again does not make you pay twice, and payments already made stay recorded.
problem-broken-title = Something went wrong
problem-broken-heading = Something went wrong on our side
problem-broken-text = The error has been recorded. If you have paid, do not pay again: your payment stays recorded.
problem-reopen = Open the payment page
problem-retry = Try again
problem-reference = Support code

## Sandbox only

simulate = Test simulator
simulate-text = Choose what happens to this payment. This panel only exists in test mode.
simulate-paid = Pay
simulate-failed = Fail
simulate-processing = Mark as processing

## Choosing the quantity or the amount

price-each = Price for one
price-open = You decide how much
price-quantity = Quantity
price-quantity-range = Choose 1 to { $most }.
price-amount = Amount that you pay
price-amount-range = From { $least } to { $most }.
price-pay = Pay
price-not-a-number = Please use digits only.
price-outside = Outside of what is accepted.
price-too-little = This payment method takes { $least } at least. Change it or choose another method.
price-too-much = This payment method takes { $most } at most. Change it or choose another method.

## The way back to the merchant

back-to = Back to { $merchant }
back-leaving = You will go back to { $merchant } in a moment.
back-stay = Stay on this page
back-stayed = You stay on this page.
# Contacting the shop

contact-whatsapp = Contact { $merchant } on WhatsApp
contact-phone = Contact { $merchant } by phone
contact-email = Contact { $merchant } by email
contact-site = Contact { $merchant } on their website
## A status that was looked up

looked-pending = Checked at { $time } WIB: no payment yet.
looked-processing = Checked at { $time } WIB: still being processed.
looked-failed = Could not check. Look at your internet connection, then try again.

## Account numbers in parts

account-company-code = Company code
account-customer-number = Customer number
account-institution-code = Institution code
account-payment-code = Payment code
account-whole-number = Whole virtual account number

## Payments that were cancelled, by reason

replaced-title = Code replaced
replaced-heading = This payment code was replaced
replaced-text = You chose another way to pay, so this code no longer works.
withdrawn-title = Code cancelled
superseded-title = Paid already
again-replaced = Continue paying

## Receipts

pay-again = Pay again
print-slip = 80 mm slip
slip-title = Payment receipt
slip-print = Print slip
slip-back = Back to the full receipt
slip-help = To print, choose Print in your browser's menu, then 80 mm paper without margins.

## How chats show a link

preview-pay = Pay { $amount } to { $shop }.
preview-paid = Paid in full. Thank you from { $shop }.
preview-paid-note = Paid in full
preview-closed = This link does not take payments any more.
preview-how = Pay by QRIS or virtual account

## A claim link: where money that comes back shall go

claim-title = Get { $amount } back
claim-heading = { $merchant } is giving money back to you
claim-amount-label = Amount you get back
claim-from = From
claim-reason = Reason
claim-where = Which bank account should it go to?
claim-bank = Bank
claim-bank-choose = Choose your bank
claim-bank-common = Chosen most often
claim-bank-others = Other banks
claim-bank-missing = Choose a bank from the list.
claim-bank-out-of-reach = This bank cannot receive a transfer of { $amount }. Choose another bank.
claim-number = Account number
claim-number-malformed = Type 5 to 20 digits, without letters.
claim-number-refused = The bank does not know this account, or it cannot receive transfers. Check the bank and the number again.
claim-check = Continue
claim-wait = Too many accounts were checked from your network. Try again from { $time } WIB on.
claim-checking = Checking…
claim-next = The money is sent only after you have checked and confirmed the account in the next step.
claim-safe = We never ask for a PIN, a password or an OTP code.
claim-open-until = This link works until
claim-confirm-title = Check your account
claim-confirm-heading = Is this your account?
claim-confirm-text = Once you confirm, the account cannot be changed by this link any more.
claim-holder = Account holder's name
claim-holder-hint = We could not ask the bank for this name yet. Type it exactly as in your passbook or banking app.
claim-confirm = Yes, send { $amount } here
claim-change = No, use another account
claim-expired-title = Link expired
claim-expired-heading = This link has expired
claim-expired-text = Your money was not sent yet. Ask { $merchant } for a new link.
claim-exhausted-title = Link locked
claim-exhausted-heading = This link was tried too often
claim-exhausted-text = For your safety, no account can be named by this link any more. Your money was not sent yet. Ask { $merchant } for a new link.
claim-checked-title = Being checked
claim-checked-heading = { $merchant } is checking it
claim-checked-text = We have your account. The money is sent once { $merchant } has checked it. There is nothing more for you to fill in.
claim-on-its-way-title = Money on its way
claim-on-its-way-heading = Your money is on its way
claim-on-its-way-text = This usually takes a few minutes. If the shop sends it by hand at its bank, it can take some working days.
claim-script = This page updates by itself when there is news.
claim-succeeded-title = Money sent
claim-succeeded-heading = Your money has been sent
claim-succeeded-text = Check the history of your bank account. You may close this page.
claim-failed-title = Could not be sent
claim-failed-heading = The money could not be sent
claim-failed-text = The bank refused it, so the shop still has the money. Contact { $merchant } and ask what to do next.
claim-cancelled-title = Refund cancelled
claim-cancelled-heading = This refund was cancelled
claim-cancelled-text = { $merchant } cancelled it, and no money was sent. If you think this is a mistake, contact { $merchant }.
claim-returned-title = Money went back
claim-returned-heading = The money went back to the shop
claim-returned-text = The bank sent it back, for example because the account was closed. Contact { $merchant } and name another account.
claim-late = An account had been confirmed already, so what you have just sent was not used. If the account below is not yours, contact the shop at once.
claim-sent-at = Sent at
claim-bank-reference = Bank reference
claim-looked = Checked at { $time } WIB: no change yet.

## Money that goes back, on the page of its payment

refund-done-label = Refunded
refund-done = { $amount } on { $date }
refund-open-label = To be refunded
refund-on-its-way = { $amount }, on its way
refund-needs-account = { $amount }, once you name an account by the shop's link
