package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestSecretKeyIsMadeOnce(t *testing.T) {
	dir := t.TempDir()
	keys := make([][]byte, 8)
	var wg sync.WaitGroup
	for i := range keys {
		wg.Go(func() {
			key, err := secretKey(dir)
			if err != nil {
				t.Error(err)
			}
			keys[i] = key
		})
	}
	wg.Wait()
	for _, key := range keys {
		if len(key) != keyBytes || !bytes.Equal(key, keys[0]) {
			t.Fatalf("keys differ: %x and %x", keys[0], key)
		}
	}
	info, err := os.Stat(filepath.Join(dir, keyFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; want 0600 (D5.2)", info.Mode(), err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("%d files left, %v", len(files), err)
	}
}

func TestDamagedKeyIsRefused(t *testing.T) {
	for name, text := range map[string]string{"empty": "", "short": "abcd", "no hexadecimal": strings.Repeat("z", 64)} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, keyFile), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := secretKey(dir); err == nil || !strings.Contains(err.Error(), "damaged") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestDerivedKeysDiffer(t *testing.T) {
	secret := make([]byte, keyBytes)
	a, err := derivedKey(secret, "a")
	if err != nil {
		t.Fatal(err)
	}
	b, err := derivedKey(secret, "b")
	if err != nil || bytes.Equal(a, b) || bytes.Equal(a, secret) {
		t.Errorf("%x and %x, %v", a, b, err)
	}
}

func TestOneServiceForEachDataDirectory(t *testing.T) {
	dir := t.TempDir()
	release, err := lockDataDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lockDataDir(dir); err == nil || !strings.Contains(err.Error(), "in use by another wayside serve") {
		t.Errorf("a second one: %v", err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	again, err := lockDataDir(dir)
	if err != nil {
		t.Fatalf("after the first ended: %v", err)
	}
	if err := again(); err != nil {
		t.Error(err)
	}
}
