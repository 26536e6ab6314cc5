-- Each new QRIS payload went to a random place of this index, which only the sandbox's page for paying a code has used.
DROP INDEX payments_live_payload;
