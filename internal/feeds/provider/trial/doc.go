// Package trial reads a provider's documents at a URL once: it fetches a complete body, stores it (on disk when it is
// large), and names the failure as a poll does (D6.7). Package pull polls with it; a Checker tries a URL or a text and
// stores nothing, for wayside validate and for the page on which providers check their feeds.
package trial
