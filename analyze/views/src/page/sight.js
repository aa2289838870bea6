// What draws only what is in sight, and so draws again when something is scrolled, or the window changes its size.

/** @typedef { { follow(): void } } Follower */

/** Those there are, each with an element; who has left the page is forgotten. */
const followers = /** @type {Map<Follower, Element>} */ (new Map());

function followAll() {
  for (const [follower, element] of followers) element.isConnected ? follower.follow() : followers.delete(follower);
}

/**
 * Has somebody follow what is in sight, as long as its element is in the page.
 * @param {Follower} follower @param {Element} element
 */
export function followSight(follower, element) {
  document.addEventListener("scroll", followAll, { capture: true, passive: true }); // once, however often it is said
  window.addEventListener("resize", followAll);
  followers.set(follower, element);
}
