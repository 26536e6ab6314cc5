// Copies a text to the clipboard; the promise fails where that is not possible. Browsers offer the clipboard over https only;
// elsewhere the text is copied from a hidden field. It must run in web views as old as Chrome 70.
function copyText(text) {
  const copyFromField = () => {
    const field = document.createElement('textarea');
    field.value = text;
    field.className = 'quiet';
    document.body.appendChild(field);
    field.select();
    const copied = document.execCommand('copy');
    field.remove();
    return copied ? Promise.resolve() : Promise.reject();
  };
  return navigator.clipboard ? navigator.clipboard.writeText(text).catch(copyFromField) : copyFromField();
}
