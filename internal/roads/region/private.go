package region

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
)

// serving begins the name of a private copy, which has a name only for a moment.
const serving = ".serving-"

// copyChunk is how many bytes of a private copy are copied between two checks of the context.
const copyChunk = 64 << 20

// openToServe opens a region file and returns a copy of it without a name, made in the given folder. A service maps the
// copy, because a program that can write to a mapped file controls the process: truncating the file ends the process by
// SIGBUS in whatever goroutine reads next, and other contents can lead searches into recursion until the stack is full,
// which no recover stops. No other program can open the copy, and its space is freed when it is unmapped, however the
// process ends. If the file system shares blocks (XFS, Btrfs), the copy takes no space.
//
// The info is that of the original file.
func openToServe(ctx context.Context, path, folder string) (*file, error) {
	in, err := openFile(path)
	if err != nil || runtime.GOOS == "windows" { // Windows does not change mapped files, and does not remove open ones
		return in, err
	}
	out, err := in.private(ctx, folder)
	if err = errors.Join(err, in.close()); err != nil {
		return nil, err
	}
	out.info = in.info
	return out, nil
}

// private copies the file to one without a name.
func (f *file) private(ctx context.Context, folder string) (*file, error) {
	out, err := os.CreateTemp(folder, serving+"*")
	if err != nil {
		return nil, fmt.Errorf("make the copy that is served: %w", err)
	}
	if err := os.Remove(out.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) { // an import may have swept it
		return nil, errors.Join(err, out.Close())
	}
	if err := copyFile(ctx, out, f.in, f.info.Size()); err != nil {
		return nil, errors.Join(fmt.Errorf("make the copy that is served, which takes %d MiB in %s: %w", f.info.Size()>>20, folder, err), out.Close())
	}
	return newFile(out)
}

// copyFile copies size bytes, by means of the file system if possible.
func copyFile(ctx context.Context, out, in *os.File, size int64) error {
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return err
	}
	for size > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := io.CopyN(out, in, min(size, copyChunk))
		if errors.Is(err, io.EOF) {
			return io.ErrUnexpectedEOF // the file was truncated during the copy
		}
		if err != nil {
			return err
		}
		size -= n
	}
	return nil
}
