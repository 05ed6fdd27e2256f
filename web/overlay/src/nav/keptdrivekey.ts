/** Key of the drive that is kept in the browser's local storage, so that it goes on after a reload. */
export const keptDriveKey = "wayside.drive";
