package crd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/webhook"
)

// recall returns a Converter that uses the cached result of the webhook, or calls it. For a request, it also calls the
// webhook if the cached result is a failure.
func (d *definition) recall(by resource.Asker) Converter {
	return func(obj object.Object, apiVersion string) (object.Object, error) {
		known := d.server.Host.Memory().answers(d.name)
		if converted, err, ok := known.recall(d.memoryKey(obj, apiVersion), by != nil); ok {
			return converted, err
		}
		return d.learn(by)(obj, apiVersion)
	}
}

// learn returns a Converter that calls the webhook. It caches the result unless the request has ended.
func (d *definition) learn(by resource.Asker) Converter {
	return func(obj object.Object, apiVersion string) (object.Object, error) {
		key := d.memoryKey(obj, apiVersion)
		converted, err := d.review(by, obj, apiVersion)
		if err != nil && requestOf(by).Err() != nil {
			return nil, err
		}
		d.server.Host.Memory().answers(d.name).learn(key, converted, err)
		return converted, err
	}
}

// ask returns a Converter that calls the webhook.
func (d *definition) ask(by resource.Asker) Converter {
	return func(obj object.Object, apiVersion string) (object.Object, error) {
		return d.review(by, obj, apiVersion)
	}
}

// review sends an object to the conversion webhook of the definition and returns the converted object (CustomResourceDefinition
// documentation, "Webhook conversion").
//
//	ConversionReview ─ request:  uid, desiredAPIVersion, objects: [obj]
//	                 └ response: uid, result: {status: Success}, convertedObjects: [converted]
func (d *definition) review(by resource.Asker, obj object.Object, apiVersion string) (object.Object, error) {
	kind := schema.ParseGVK(obj.APIVersion(), obj.Kind())
	version := webhook.ReviewVersion(d.conversion.Strings("webhook", "conversionReviewVersions"))
	if version == "" {
		return nil, errors.New("no supported conversion review versions")
	}
	uid := d.server.Host.NewUID()
	review := schema.GVK{Group: "apiextensions.k8s.io", Version: version, Kind: "ConversionReview"}
	structure := d.server.Schema.Kind(review)
	request := object.Object{"kind": review.Kind, "apiVersion": review.GV(), "response": map[string]any{},
		"request": map[string]any{"uid": uid, "desiredAPIVersion": apiVersion, "objects": []any{map[string]any(obj)}}}
	body, err := d.post(by, append(codec.Append(nil, request, structure), '\n'))
	var answer object.Object
	if err == nil {
		answer, err = webhook.Read(body, review, structure)
	}
	if err != nil {
		return nil, failure(kind, "failed: %v", err)
	}
	converted, err := readReview(answer, version, uid)
	if err != nil {
		return nil, failure(kind, "failed: %v", err)
	}
	if len(converted) != 1 {
		return nil, failure(kind, "returned %d objects, expected %d", len(converted), 1)
	}
	if raw, ok := converted[0].(object.Raw); ok { // JSON that is not in canonical form is kept as raw text
		converted[0] = raw.Value()
	}
	out, ok := converted[0].(map[string]any)
	if !ok {
		return nil, failure(kind, "failed, unexpected type %T at index 0", converted[0])
	}
	return out, nil
}

// askMax is the timeout of a conversion webhook.
const askMax = 30 * time.Second

// post sends a review and returns the response. If a request needs the conversion, post waits without the Cluster's lock, for
// at most askMax of the Cluster's time, and not beyond the request's deadline. It discards a later response.
func (d *definition) post(by resource.Asker, body []byte) (answer []byte, err error) {
	config := d.conversion.At("webhook", "clientConfig")
	host := d.server.Host
	ctx, cancel := context.WithCancelCause(requestOf(by))
	defer cancel(nil)
	defer host.After(askMax, func() { cancel(context.DeadlineExceeded) })()
	q := &webhook.Request{URL: webhook.Address(config, askMax), Trusted: webhook.Bundle(config), Review: body}
	ask := func() { answer, err = webhook.Call(host.Call).Ask(ctx, q) }
	if by == nil {
		ask()
		return answer, err
	}
	q.Wait = host.Wait
	by.Unlocked(ask)
	return answer, err
}

// requestOf returns the context of the request that needs a conversion, or an empty context if no request needs it.
func requestOf(by resource.Asker) context.Context {
	if by == nil {
		return context.Background()
	}
	return by.Context()
}

// readReview returns the converted objects in a ConversionReview. It returns an error if the review does not fit the request, or if
// the webhook reports a failure.
func readReview(answer object.Object, version, uid string) ([]any, error) {
	want := schema.GVK{Group: "apiextensions.k8s.io", Version: version, Kind: "ConversionReview"}
	if got := schema.ParseGVK(answer.APIVersion(), answer.Kind()); got != want && version == "v1" {
		return nil, fmt.Errorf("expected webhook response of %v, got %v", want, got)
	}
	response := answer.At("response")
	if response == nil {
		return nil, errors.New("no response provided")
	}
	if got := response.String("uid"); got != uid && version == "v1" {
		return nil, fmt.Errorf("expected response.uid=%q, got %q", uid, got)
	}
	if status := response.String("result", "status"); status != "Success" {
		if message := response.String("result", "message"); message != "" {
			return nil, errors.New(message)
		}
		return nil, fmt.Errorf("response.result.status was '%s', not 'Success'", status)
	}
	return response.List("convertedObjects"), nil
}
