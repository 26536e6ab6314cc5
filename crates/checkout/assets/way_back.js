// Only on pages of paid payments that lead back to a shop. The page goes there by itself, once: when it has seen the payment become
// paid, or right after that. A customer who comes back to the receipt stays.
(function () {
  'use strict';
  const one = (selector) => document.querySelector(selector);
  const leave = one('#leave');
  if (leave) {
    const status = leave.querySelector('[role]'), count = leave.querySelector('b'), stay = leave.querySelector('button');
    const left = 'lunas:left:' + location.pathname;
    let fresh = 'fresh' in leave.dataset, seconds = +leave.dataset.seconds, counting;
    try {
      fresh = (fresh || /^\S+>paid /.test(sessionStorage.getItem('lunas:' + location.pathname))) && !sessionStorage.getItem(left);
    } catch (blocked) { /* Without session storage only a payment of the last minute is new. */ }
    const stop = () => {
      clearInterval(counting);
      try { sessionStorage.setItem(left, '1'); } catch (blocked) { /* The page leaves again after a reload within a minute. */ }
      count.textContent = '';
      stay.hidden = true;
    };
    const remain = () => {
      if (stay.hidden) return;
      stop();
      status.textContent = status.dataset.stayed;
    };
    if (fresh && window.top === window) {
      stay.hidden = false;
      status.textContent = status.dataset.leaving;
      count.textContent = seconds;
      counting = setInterval(() => {
        seconds -= 1;
        count.textContent = seconds;
        if (seconds > 0) return;
        stop();
        status.textContent = '';
        location.href = one('#back').href;
      }, 1000);
      stay.onclick = () => { remain(); one('#back').focus(); };
      addEventListener('beforeprint', remain);
    }
  }
})();
