// Reasons of a rejection: the button puts the chosen one into the note, where it can be edited.

/** withReason adds a reason to a note, on a line of its own, once. */
export function withReason(note: string, reason: string): string {
  const text = note.trimEnd();
  if (reason === "" || text.split("\n").includes(reason)) return note;
  return text === "" ? reason : `${text}\n${reason}`;
}

/** offerReasons adds buttons that insert prepared reasons. */
export function offerReasons(part: ParentNode): void {
  const choice = part.querySelector<HTMLSelectElement>("select[data-reason]");
  const button = part.querySelector<HTMLButtonElement>("[data-reason-insert]");
  const note = document.getElementById(choice?.dataset["reason"] ?? "");
  if (!choice || !button || !(note instanceof HTMLTextAreaElement)) return;
  button.hidden = false;
  button.addEventListener("click", () => {
    note.value = withReason(note.value, choice.selectedOptions[0]?.dataset["text"] ?? "");
    choice.value = ""; // the note holds the reason now
    note.focus();
  });
}
