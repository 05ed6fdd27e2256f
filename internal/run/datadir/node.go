package datadir

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// NodeFile holds the name of the node that the data directory belongs to, which stays from one start to the next.
const NodeFile = "node"

// nodeName is the length of a node's name.
const nodeName = 26

// NodeName returns the name of the data directory's node, which is random and made at the first start. It replaces a damaged file
// with a new name.
func NodeName(dir string) (string, error) {
	path := filepath.Join(dir, NodeFile)
	text, err := os.ReadFile(path)
	if err == nil && len(text) == nodeName {
		return string(text), nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	name := rand.Text()
	return name, replaceFile(path, []byte(name))
}
