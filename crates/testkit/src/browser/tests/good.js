const state = document.querySelector("#state");
const late = document.querySelector("#late");
const copy = document.querySelector("#copy");
copy.addEventListener("click", async () => {
  copy.dataset.clicks = Number(copy.dataset.clicks ?? 0) + 1;
  await navigator.clipboard.writeText("8808123412341234");
  state.textContent = "Tersalin";
});
document.querySelector("#name").addEventListener("input", (event) => {
  late.hidden = event.target.value !== "Sari";
});
late.addEventListener("click", () => {
  late.remove();
  new EventSource("/endless").addEventListener("message", (event) => { state.textContent = event.data; });
});
