package testenv

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// The names inside a fresh cluster.
const (
	superuser    = "wayside"
	mainDatabase = "wayside"
)

// scramIterations is the number of iterations for the superuser's password. Tests connect hundreds of times, and the customary 4096
// iterations take most of a connection's time under the race detector. A random password of 130 bits needs none.
const scramIterations = 1

// seedStatements prepare a fresh cluster. In single-user mode the server reads one statement a line, and ends. Of the reference systems
// of PostGIS, which are half of each database that is copied, the service uses one.
const seedStatements = "CREATE EXTENSION postgis\nDELETE FROM spatial_ref_sys WHERE srid <> 4326\nVACUUM FULL spatial_ref_sys\n" +
	"CREATE DATABASE " + mainDatabase + "\n"

// seed is an initialized cluster with PostGIS from which every server's folder is copied, because initdb takes seconds, and a copy
// tenths of a second. It is made once on a machine for each version of PostgreSQL.
type seed struct {
	data     string
	password string
}

// unprivileged returns the user as which PostgreSQL runs if the tests run as root, because PostgreSQL refuses root; nil means the
// current user.
func unprivileged() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("%w: there is no user postgres to run PostgreSQL as: %s", ErrMissing, wantPostgres)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("user postgres: %w", err)
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("user postgres: %w", err)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

// readySeed finds the seed or makes it. Several processes may call it at the same time.
func readySeed(pg program, as *syscall.Credential) (_ seed, err error) {
	parent, err := seedFolder()
	if err != nil {
		return seed{}, err
	}
	name := filepath.Join(parent, fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%s %s %d %s", pg.bin, pg.banner, scramIterations, seedStatements)))[:16])
	lock, err := lockFile(name+lockName, syscall.LOCK_EX)
	if err != nil {
		return seed{}, fmt.Errorf("lock the fresh cluster: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	s := seed{data: filepath.Join(name, "data")}
	if password, err := os.ReadFile(filepath.Join(name, "password")); err == nil {
		s.password = strings.TrimSpace(string(password))
		return s, nil
	}
	f, err := newFolder(as)
	if err != nil {
		return seed{}, err
	}
	defer func() { err = errors.Join(err, f.remove()) }()
	if s.password, err = initCluster(pg, as, f.path); err != nil {
		return seed{}, err
	}
	// The password is written last: a folder that contains it is complete.
	if err := errors.Join(
		os.RemoveAll(name), os.Mkdir(name, 0o700), os.Rename(filepath.Join(f.path, "data"), s.data),
		os.WriteFile(filepath.Join(name, "password"), []byte(s.password+"\n"), 0o600),
	); err != nil {
		return seed{}, fmt.Errorf("keep the fresh cluster: %w", err)
	}
	return s, nil
}

// seedFolder returns the folder of the seeds. No other user may write to it, because its contents are executed.
func seedFolder() (string, error) {
	path := filepath.Join(os.TempDir(), "wayside-seed-"+strconv.Itoa(os.Getuid()))
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return "", fmt.Errorf("make a folder: %w", err)
	}
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); !ok || !info.IsDir() || info.Mode().Perm() != 0o700 || int(stat.Uid) != os.Getuid() {
		return "", fmt.Errorf("%s belongs to another user or is writable by others: remove it", path)
	}
	return path, nil
}

// initCluster makes a cluster in folder/data, with PostGIS in the template of new databases.
func initCluster(pg program, as *syscall.Credential, folder string) (password string, err error) {
	password = rand.Text()
	file, data := filepath.Join(folder, "password"), filepath.Join(folder, "data")
	if err := os.WriteFile(file, []byte(password), 0o600); err != nil {
		return "", err
	}
	if as != nil {
		if err := os.Chown(file, int(as.Uid), int(as.Gid)); err != nil {
			return "", err
		}
	}
	initdb := exec.CommandContext(context.Background(), filepath.Join(pg.bin, "initdb"), "-D", data, "-U", superuser, "--pwfile="+file,
		"--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync")
	if err := runAs(initdb, as, folder, ""); err != nil {
		return "", fmt.Errorf("make a fresh cluster: %w", err)
	}
	secret, err := scramSecret(password)
	if err != nil {
		return "", fmt.Errorf("hash the password: %w", err)
	}
	single := exec.CommandContext(context.Background(), filepath.Join(pg.bin, "postgres"), "--single", "-F", "-D", data, "template1")
	if err := runAs(single, as, folder, seedStatements+"ALTER ROLE "+superuser+" PASSWORD '"+secret+"'\n"); err != nil {
		return "", fmt.Errorf("add PostGIS: %w", err)
	}
	return password, nil
}

// scramSecret returns the form in which PostgreSQL stores a password (RFC 5803).
func scramSecret(password string) (string, error) {
	salt := make([]byte, 16)
	rand.Read(salt) // never fails
	salted, err := pbkdf2.Key(sha256.New, password, salt, scramIterations, sha256.Size)
	if err != nil {
		return "", err
	}
	stored := sha256.Sum256(signed(salted, "Client Key"))
	encode := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("SCRAM-SHA-256$%d:%s$%s:%s", scramIterations, encode(salt), encode(stored[:]), encode(signed(salted, "Server Key"))), nil
}

func signed(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

// runAs runs a program as a user and waits for its end.
func runAs(cmd *exec.Cmd, as *syscall.Credential, folder, stdin string) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as}
	cmd.Dir, cmd.Stdin = folder, strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err == nil && bytes.Contains(out, []byte("ERROR:")) { // a single-user server exits with 0 even after an error
		err = errors.New("it reports an error")
	}
	if err != nil {
		return fmt.Errorf("%s: %w: %s", filepath.Base(cmd.Path), err, bytes.TrimSpace(out))
	}
	return nil
}
