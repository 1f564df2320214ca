// SPDX-License-Identifier: Apache-2.0

// Command provenance writes how the files of a release were made, as SLSA's statement.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"berth.dev/tests/image"
	"berth.dev/tests/internal/program"
)

type options struct {
	out, folder string
	build       image.Made
}

func main() { program.Main("provenance", parse, run) }

func parse(args []string) (o options, err error) {
	flags := flag.NewFlagSet("provenance", flag.ContinueOnError)
	flags.StringVar(&o.out, "out", "", "the `file` to write")
	flags.StringVar(&o.build.Version, "version", "", "Berth's version, such as 0.1.0")
	flags.StringVar(&o.build.Revision, "revision", "", "the commit that it was built from")
	flags.StringVar(&o.build.Source, "source", "", "the `address` of the tree")
	flags.StringVar(&o.build.Type, "type", "", "the `address` of the page that describes the build")
	flags.StringVar(&o.build.Builder, "builder", "", "the `address` of what ran it")
	flags.StringVar(&o.build.Image, "image", "", "the image's `repository`")
	digest := flags.String("digest", "", "the image's digest")
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), "Usage: provenance [options] <folder>")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.out == "" || flags.NArg() != 1 {
		return o, errors.New("provenance: --out and a folder are needed")
	}
	o.folder = flags.Arg(0)
	if o.build.Digest, err = v1.NewHash(*digest); err != nil {
		return o, fmt.Errorf("provenance: --digest: %w", err)
	}
	return o, nil
}

func run(_ context.Context, o options) error { return image.WriteProvenance(o.out, o.folder, o.build) }
