package datadir

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
			key, err := SecretKey(dir)
			if err != nil {
				t.Error(err)
			}
			keys[i] = key
		})
	}
	wg.Wait()
	for _, key := range keys {
		if len(key) != KeyBytes || !bytes.Equal(key, keys[0]) {
			t.Fatalf("keys differ: %x and %x", keys[0], key)
		}
	}
	info, err := os.Stat(filepath.Join(dir, KeyFile))
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
			if err := os.WriteFile(filepath.Join(dir, KeyFile), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := SecretKey(dir); err == nil || !strings.Contains(err.Error(), "damaged") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestDerivedKeysDiffer(t *testing.T) {
	secret := make([]byte, KeyBytes)
	a, err := DeriveKey(secret, "a")
	if err != nil {
		t.Fatal(err)
	}
	b, err := DeriveKey(secret, "b")
	if err != nil || bytes.Equal(a, b) || bytes.Equal(a, secret) {
		t.Errorf("%x and %x, %v", a, b, err)
	}
}

func TestOneServiceForEachDataDirectory(t *testing.T) {
	dir := t.TempDir()
	release, err := Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(dir); err == nil || !strings.Contains(err.Error(), "in use by another wayside serve") {
		t.Errorf("a second one: %v", err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	again, err := Lock(dir)
	if err != nil {
		t.Fatalf("after the first ended: %v", err)
	}
	if err := again(); err != nil {
		t.Error(err)
	}
}
