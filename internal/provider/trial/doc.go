// Package trial reads once what a provider publishes at a URL: it fetches a whole body, keeps it aside (on disk when it is
// large), and names what failed as a poll does (D6.7). Package pull polls with it; a Checker tries a URL or a text and
// stores nothing, for wayside validate and for the page on which providers check their feeds.
package trial
