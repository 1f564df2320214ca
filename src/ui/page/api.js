// SPDX-License-Identifier: Apache-2.0
// Asks the program that serves the page. The token came in the address; from there it goes into this
// tab's own storage, so that a reload finds it, and out of the address bar and the history.

const kTokenHeader = 'X-Berth-Token';
const kStored = 'berth-token';

function takeToken() {
  const address = new URL(location.href);
  const token = address.searchParams.get('token');
  if (token !== null) {
    sessionStorage.setItem(kStored, token);
    address.searchParams.delete('token');
    history.replaceState(null, '', address);
  }
  return sessionStorage.getItem(kStored) ?? '';
}

const token = takeToken();

/** The document at `path`. Throws an Error with the server's words. */
export async function ask(path, options = {}) {
  let response;
  try {
    response = await fetch(path, {...options, headers: {[kTokenHeader]: token}, cache: 'no-store'});
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Error('The program that serves this page does not answer: was it ended?');
  }
  if (!response.ok) throw new Error((await response.text()).trim());
  return response.json();
}

/** A file of the page's own. */
export async function fileText(path) {
  const response = await fetch(path);
  if (!response.ok) throw new Error((await response.text()).trim());
  return response.text();
}

export const askFor = (path, parameters, options) =>
  ask(`${path}?${new URLSearchParams(parameters)}`, options);

export const post = (path, body, options = {}) =>
  ask(path, {...options, method: 'POST', body: body === undefined ? undefined : JSON.stringify(body)});
