/** A server on loopback that gives the answers of a list, one for each request, and remembers the requests. */

import { createServer } from "node:http";

export const KEY = ["sk", "test", "a1".repeat(19)].join("_");

/** An answer is `{ status, headers, body }`, or one of the words `lose` (no answer) and `hang` (none in time). */
export async function fakeServer(answers) {
  const requests = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    const answer = answers[Math.min(requests.length, answers.length - 1)];
    requests.push({ method: request.method, url: request.url, headers: request.headers, body });
    if (answer === "lose") return request.socket.destroy();
    if (answer === "hang") return;
    const { status = 200, headers = {}, body: text = {} } = answer;
    response.writeHead(status, { "Content-Type": "application/json", ...headers });
    response.end(typeof text === "string" ? text : JSON.stringify(text));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${server.address().port}`;
  return { url, requests, stop: () => (server.closeAllConnections(), server.close()) };
}
