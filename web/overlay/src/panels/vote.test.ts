import { expect, test } from "vitest";
import { HTTPError } from "../net/api.ts";
import { complaintReplyForError, replyForError } from "./vote.ts";

const refused = (status: number): HTTPError => new HTTPError(new Response(null, { status }), "");

test.each([
  [401, "vote.guest", "vote.guest"],
  [404, "vote.late", "vote.late"],
  [429, "vote.tooMany", "complaint.tooMany"],
  [500, "vote.failed", "complaint.failed"],
])("a refusal with %i has a reply to a vote and to a complaint", (status, vote, complaint) => {
  expect(replyForError(refused(status))).toBe(vote);
  expect(complaintReplyForError(refused(status))).toBe(complaint);
});

test("without a connection, both say so", () => {
  expect(complaintReplyForError(new TypeError("failed to fetch"))).toBe("link.offline");
});
