// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"berth.dev/tests/demo/story"
)

// checkPage asks the page for its nodes.
func (s *show) checkPage(ctx context.Context, page *story.Page) error {
	nodes, err := nodesOf(ctx, page)
	if err == nil && len(nodes) != len(s.Nodes) {
		s.Fault("the page shows %d nodes, want %d", len(nodes), len(s.Nodes))
	}
	return err
}

// nodesOf are the names of the nodes that the page shows.
func nodesOf(ctx context.Context, page *story.Page) ([]string, error) {
	address, err := url.Parse(page.Address)
	if err != nil {
		return nil, fmt.Errorf("berth ui printed %q: %w", page.Address, err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address.Host+"/api/map", nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("X-Berth-Token", address.Query().Get("token"))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("ask the page: %w", err)
	}
	defer response.Body.Close()
	var document struct{ Nodes struct{ Name []string } }
	if err := json.NewDecoder(response.Body).Decode(&document); err != nil {
		return nil, fmt.Errorf("the page answers %s: %w", response.Status, err)
	}
	return document.Nodes.Name, nil
}
