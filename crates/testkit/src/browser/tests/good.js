const state = document.querySelector("#state");
const late = document.querySelector("#late");
document.querySelector("#copy").addEventListener("click", async () => {
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
