<?php

/** For programs without Composer. */

foreach (['LunasError', 'Reader', 'Types', 'Transport', 'Resources', 'Lunas', 'verifyWebhook'] as $file) {
    require_once __DIR__ . "/src/$file.php";
}
