// SPDX-License-Identifier: Apache-2.0

// Command image packs root file systems, made by deploy/image/root.sh, into one OCI image.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"berth.dev/tests/image"
	"berth.dev/tests/internal/program"
)

type options struct {
	out    string
	sbom   string
	images []image.Options
}

func main() { program.Main("image", parse, run) }

func parse(args []string) (o options, err error) {
	flags := flag.NewFlagSet("image", flag.ContinueOnError)
	flags.StringVar(&o.out, "out", "", "the `file` to write: a tar of an OCI image layout")
	flags.StringVar(&o.sbom, "sbom", "", "the `file` for the first image's bill of materials, as SPDX JSON")
	version := flags.String("version", "", "Berth's version, such as 0.1.0")
	revision := flags.String("revision", "", "the commit that it was built from")
	epoch := flags.Int64("epoch", 0, "the time of all files, in `seconds` since 1970")
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), "Usage: image [options] <architecture>=<root file system>...")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.out == "" || *version == "" || flags.NArg() == 0 {
		return o, fmt.Errorf("image: --out, --version and a root file system are needed")
	}
	for _, arg := range flags.Args() {
		architecture, root, ok := strings.Cut(arg, "=")
		if !ok {
			return o, fmt.Errorf("image: %q is not <architecture>=<root file system>", arg)
		}
		o.images = append(o.images, image.Options{
			Root: root, Architecture: architecture, Version: *version, Revision: *revision, Created: time.Unix(*epoch, 0).UTC(),
		})
	}
	return o, nil
}

func run(_ context.Context, o options) error {
	if err := image.Write(o.out, o.images...); err != nil {
		return err
	}
	if o.sbom != "" {
		if err := image.WriteSBOM(o.sbom, o.images[0]); err != nil {
			return err
		}
	}
	info, err := os.Stat(o.out)
	if err != nil {
		return err
	}
	fmt.Printf("%s  %.1f MB, %s:v%s\n", o.out, float64(info.Size())/1e6, image.Name, o.images[0].Version)
	return nil
}
