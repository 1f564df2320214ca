// SPDX-License-Identifier: Apache-2.0

// Command publish pushes the image and the chart of a release, signed, and signs the release's files. The key is in the
// environment variable BERTH_SIGNING_KEY; who pushes, in BERTH_REGISTRY_USER and BERTH_REGISTRY_PASSWORD, else in the
// configuration of docker or podman.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"berth.dev/tests/image"
	"berth.dev/tests/internal/program"
)

func main() { program.Main("publish", parse, run) }

func parse(args []string) (r image.Release, err error) {
	flags := flag.NewFlagSet("publish", flag.ContinueOnError)
	flags.StringVar(&r.Version, "version", "", "Berth's version, such as 0.1.0")
	flags.StringVar(&r.Image, "image", "", "the image's `repository`")
	flags.StringVar(&r.Charts, "charts", "", "the `repository` below which the chart goes")
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), "Usage: publish [options] <folder of the release>")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return r, err
	}
	if r.Version == "" || r.Image == "" || r.Charts == "" || flags.NArg() != 1 {
		return r, errors.New("publish: --version, --image, --charts and a folder are needed")
	}
	r.Folder = flags.Arg(0)
	if r.Key, err = image.ReadKey([]byte(os.Getenv("BERTH_SIGNING_KEY"))); err != nil {
		return r, fmt.Errorf("publish: BERTH_SIGNING_KEY: %w", err)
	}
	r.Options = []remote.Option{remote.WithAuthFromKeychain(authn.DefaultKeychain)}
	if user := os.Getenv("BERTH_REGISTRY_USER"); user != "" {
		r.Options = []remote.Option{remote.WithAuth(&authn.Basic{Username: user, Password: os.Getenv("BERTH_REGISTRY_PASSWORD")})}
	}
	return r, nil
}

func run(ctx context.Context, r image.Release) error {
	return r.Publish(ctx, func(text string) { fmt.Println(text) })
}
