# Texts of the letters, in English. Plain words, sentence case.

## In every letter
sandbox-notice = Test mode: no real money has moved.
sender-shop = This email was sent by { $name } through Lunas at { $host }.
sender-installation = This email was sent by Lunas at { $host }.
contacts = Questions? Contact us:
address-of-link = Or copy this address into your browser:
why-security = Emails about the security of your account are always sent and cannot be switched off.
why-member = You get this email as a member of the project. Choose in the dashboard which emails you get.
why-operator = You get this email as an operator. Choose in the dashboard which emails you get.
browser-unknown = Unknown
from-server = An operator’s command on the server
link-is-yours = This link is for you alone and works once. Do not forward this email.
account-action = Open your account page

## Labels of facts
fact-account = Account
fact-time = Time
fact-address = IP address
fact-from = From
fact-browser = Device
fact-expires-at = Valid until
fact-project = Project
fact-role = Role
fact-invited-by = Invited by
fact-item = For
fact-paid-at = Paid at
fact-method = Payment method
fact-reference = Reference
fact-payment = Payment ID
fact-refund-reason = Reason
fact-destination = Account
fact-refunded-at = Sent back at
fact-way = Goes back
fact-asked-by = Asked for by
fact-asked-at = Asked for at
fact-received-at = Received at
fact-webhook-url = Webhook URL
fact-failing-since = Failing since
fact-waiting = Waiting to be sent
fact-last-answer = Last answer
fact-bank-account = Bank account
fact-last-error = Last failure
fact-period = Period
fact-paid-count = Paid
fact-day-before = The day before
fact-week-before = The week before
fact-held = Waiting for a decision
fact-installation = Address of Lunas

## A customer's receipt
receipt-subject = Your payment of { $amount } to { $merchant } was received
receipt-heading = Payment received
receipt-text = Thank you. Your payment to { $merchant } has been received.
receipt-action = View your receipt
receipt-not-you = Did you not pay this?
receipt-not-you-text = Somebody may have mistyped their email address. You do not need to do anything.
claim-subject = { $merchant } is sending back { $amount }: which account?
claim-heading = Which account should your money go to?
claim-text = { $merchant } is sending your money back by bank transfer. Enter your account on the next page.
claim-action = Enter your account
claim-never = We never ask for your PIN, password or one-time codes.
refund-subject = { $merchant } has sent back { $amount }
refund-heading = Money sent back
refund-text = { $merchant } has sent your money back. Banks sometimes need a while until it shows in the account.
receipt-why = You get this email because this address was entered with the payment.

## An invitation
invitation-subject = Invitation to the project { $project }
invitation-heading = You are invited to a project
invitation-text = You are invited to become a member of the project { $project } on Lunas.
invitation-text-by = { $inviter } invites you to become a member of the project { $project } on Lunas.
invitation-action = View the invitation
invitation-not-you = Do you not know the sender?
invitation-not-you-text = Ignore this email. As long as the invitation is not accepted, nothing happens.
invitation-why = You get this email because this address was invited to the project.

role-owner = Owner
role-developer = Developer
role-viewer = Viewer
role-cashier = Cashier

## A new password
reset-subject = Set a new password
reset-text = Somebody asked for a new password for your account. If that was you, set it by this link.
reset-action = Set a new password
reset-once = This link is for you alone and works once. After the password is changed, all sessions end and you sign in again with the new one.
reset-not-you = Was it not you?
reset-not-you-text = Ignore this email: your password does not change as long as the link is not used. Give this link to nobody, not even to somebody who claims to be from us.

password-subject = Your password was changed
password-by-old = The password of your account was changed by somebody who knew the old one. All other sessions have ended.
password-by-link = The password of your account was changed by a link for a new password. All sessions have ended.
password-by-operator = The password of your account was changed by an operator on the server. All sessions have ended.
password-action = Ask for a new password
password-not-you = Was it not you?
password-not-you-text = Ask for a new password at once, then tell your operator: somebody else may be able to get into your account.

## A browser that is not known
device-subject = New sign-in to your account
device-text = Somebody signed in to your account from a browser that we do not know. If that was you, there is nothing to do.
device-not-you = Was it not you?
device-not-you-text = That person knows your password. End the session on your account page at once, change your password, then tell your operator.

## The second factor
factor-added = A second factor was added
factor-added-text = From now on, signing in to your account takes your password and a code from your authenticator app.
factor-removed = The second factor was removed
factor-removed-text = From now on, your password alone is enough to sign in to your account.
factor-codes-renewed = Recovery codes were renewed
factor-codes-renewed-text = New recovery codes have been created. The old ones no longer work.
factor-code-used = A recovery code was used
factor-code-used-text = Somebody signed in to your account with a recovery code. Codes left: { $left }.
factor-lift-asked = The second factor will be removed
factor-lift-asked-text = An operator was asked to remove the second factor of your account. It will happen on { $at }. After that, your password alone is enough to sign in.
factor-lifted = An operator removed the second factor
factor-lifted-text = An operator removed the second factor of your account. From now on, your password alone is enough to sign in; add one again soon.
factor-not-you = Was it not you?
factor-not-you-text = Change your password and end all sessions on your account page at once, then tell your operator.
factor-lift-not-you-text = Keep your second factor on your account page at once, then change your password and tell your operator.

## A webhook that fails
webhook-subject = Webhooks of { $project } are failing
webhook-heading = Webhooks are failing
webhook-text = Your server has not accepted our webhooks for more than an hour. Payments are recorded, but your system does not know of them yet.
webhook-waiting = { $count } events
webhook-action = See the cause
webhook-retried = We keep retrying, with longer and longer waits. Once your server is back, you can also resend what is late in the dashboard.

## Money that fits no payment
held-subject = { $amount } waits for a decision in { $project }
held-heading = Money waits for a decision
held-text = The money has been received, but it pays nothing yet. Decide whether to accept it or to return it.
held-action = See the money
held-who = Only owners of the project can decide.
held-wrong-amount = Money came in whose amount is not that of its bill.
held-already-paid = Money came in for a payment that was already paid.
held-link-claimed = Money came in for a link that was paid by another payment.
held-too-late = Money came in after the payment’s time limit.
held-receipt-reused = Money came in under a number that the bank has used for another payment.

## A refund that waits for an approval
approval-subject = A refund of { $amount } waits for approval in { $project }
approval-heading = A refund waits for approval
approval-text = The money goes back only once somebody has approved it who neither asked for it nor entered its account. Check the amount and where it goes.
approval-same-way = The way that it came
approval-action = See the refund
approval-owners = Only owners of the project who have neither asked for it nor entered its account can approve it, and operators.
approval-operators = No owner of the project can approve it, so operators are asked.
asked-by-key = An API key

## A bank that does not answer
bank-subject = Bank does not answer: { $account }
bank-heading = A bank does not answer
bank-text = Our calls to this bank keep failing. New payment codes may not be possible.
bank-action = See the account’s state
bank-paid = Payments that were made are not lost: we ask for them again as soon as the bank answers.

## Summaries
summary-daily-subject = Yesterday in { $project }: { $sum }
summary-daily = Daily summary
summary-weekly-subject = Last week in { $project }: { $sum }
summary-weekly = Weekly summary
summary-count = { $count } payments
summary-held = { $count } receipts
summary-action = Open the dashboard

## A test
test-subject = Test email from Lunas
test-text = Emails from Lunas reach this address.
test-why = You get this email because an operator tried out email delivery.
notice-test-subject = A test notice from Lunas
notice-test-text = Notices from Lunas reach this address.
