/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the data; flame.js, which comes with it, draws them. Nodes are in preorder, three numbers
 * each, or four when two recordings are compared: depth, number of the label, nanoseconds here and
 * there.
 */
#include "src/collector/output/flame.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/collector/destination.h"
#include "src/collector/json.h"
#include "src/collector/labels.h"
#include "src/collector/tree.h"
#include "src/collector/utf8.h"

/* The files as they are, each with a zero byte behind it. */
#define EMBED(name, path)                                                                          \
	__asm__(".pushsection .rodata\n" #name ": .incbin \"" path "\"\n.byte 0\n.popsection");    \
	extern const char name[] __attribute__((visibility("hidden")))
EMBED(flame_script, CUPROBE_FLAME_JS);
EMBED(flame_style, CUPROBE_FLAME_CSS);

struct page {
	FILE *out;
	const struct flame_opts *opts;
	__u32 *numbers; /* of labels, by their own; 0: not written yet */
	__u32 labels;
};

/* U+FFFE and U+FFFF: valid UTF-8, and not allowed in XML. */
static bool is_no_xml(const char *text)
{
	return !strncmp(text, "\xef\xbf\xbe", 3) || !strncmp(text, "\xef\xbf\xbf", 3);
}

/* Text inside a script: nothing in it ends the script, or CDATA. */
static void write_json(FILE *out, const char *text)
{
	char *json = NULL;
	size_t bytes;
	FILE *memory = open_memstream(&json, &bytes);

	if (!memory)
		return;
	json_write_string(memory, text, strlen(text));
	fclose(memory);
	for (const char *c = json; c && *c; c++) {
		if (*c == '<' || *c == '>' || *c == '&') {
			fprintf(out, "\\u%04x", *c);
		} else if (is_no_xml(c)) {
			fprintf(out, "\\uff%02x", (unsigned char)c[2] + 0x40);
			c += 2;
		} else {
			fputc(*c, out);
		}
	}
	free(json);
}

static void write_xml(FILE *out, const char *text)
{
	for (size_t left = strlen(text), bytes; left; text += bytes, left -= bytes) {
		bytes = utf8_bytes(text, left);
		if (strchr("<>&\"", *text))
			fprintf(out, "&#%d;", *text);
		else if (!bytes || is_no_xml(text))
			fputs("\xef\xbf\xbd", out);
		else if ((unsigned char)*text >= 0x20)
			fwrite(text, 1, bytes, out);
		bytes += !bytes;
	}
}

static void write_label(struct page *p, const struct label *label)
{
	fprintf(p->out, "%s\n[%d,", p->labels ? "," : "", label->kind);
	write_json(p->out, label->text);
	fputc(',', p->out);
	write_json(p->out, label->detail);
	fputc(']', p->out);
	p->numbers[label->number] = ++p->labels;
}

/* Each label of the tree once, in the order in which the tree needs them. */
static void write_labels(struct page *p, const struct tree_node *parent)
{
	for (const struct tree_node *n = parent->children; n; n = n->next) {
		if (!p->numbers[n->label->number])
			write_label(p, n->label);
		write_labels(p, n);
	}
}

static void write_nodes(struct page *p, const struct tree_node *parent, unsigned int depth)
{
	for (const struct tree_node *n = parent->children; n; n = n->next) {
		fprintf(p->out, ",\n%u,%u,%llu", depth, p->numbers[n->label->number] - 1,
			n->gpu_ns);
		if (p->opts->diff)
			fprintf(p->out, ",%llu", n->other_ns);
		write_nodes(p, n, depth + 1);
	}
}

static void write_data(struct page *p, const struct tree *tree)
{
	fputs("flame({title:", p->out);
	write_json(p->out, p->opts->title);
	fputs(",subtitle:", p->out);
	write_json(p->out, p->opts->subtitle);
	fputs(",gone:", p->out);
	write_json(p->out, p->opts->gone);
	fprintf(p->out, ",diff:%s,kinds:[", p->opts->diff ? "true" : "false");
	for (int kind = 0; kind < LABEL_KINDS; kind++)
		fprintf(p->out, "%s\"%s\"", kind ? "," : "", label_kind_name(kind));
	fputs("],labels:[", p->out);
	write_labels(p, &tree->root);
	fprintf(p->out, "],\nnodes:[0,-1,%llu", tree->root.gpu_ns);
	if (p->opts->diff)
		fprintf(p->out, ",%llu", tree->root.other_ns);
	write_nodes(p, &tree->root, 1);
	fputs("]});\n", p->out);
}

static void write_svg(struct page *p, const struct tree *tree)
{
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	      "<svg id=\"flame\" xmlns=\"http://www.w3.org/2000/svg\" width=\"100%\">\n<title>",
	      p->out);
	write_xml(p->out, p->opts->title);
	fprintf(p->out, "</title>\n<style>\n%s</style>\n<script><![CDATA[\n%s", flame_style,
		flame_script);
	write_data(p, tree);
	fputs("]]></script>\n</svg>\n", p->out);
}

static void write_html(struct page *p, const struct tree *tree)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>",
	      p->out);
	write_xml(p->out, p->opts->title);
	fprintf(p->out,
		"</title>\n<style>\n%s</style>\n</head>\n<body>\n"
		"<svg id=\"flame\" xmlns=\"http://www.w3.org/2000/svg\" width=\"100%%\"></svg>\n"
		"<script>\n%s",
		flame_style, flame_script);
	write_data(p, tree);
	fputs("</script>\n</body>\n</html>\n", p->out);
}

static __u32 greatest_label(const struct tree_node *parent)
{
	__u32 greatest = 0;

	for (const struct tree_node *n = parent->children; n; n = n->next) {
		__u32 under = greatest_label(n);

		under = under > n->label->number ? under : n->label->number;
		greatest = greatest > under ? greatest : under;
	}
	return greatest;
}

int flame_write(const struct tree *tree, const struct flame_opts *opts)
{
	struct page p = {.opts = opts};
	struct destination out;
	int err = destination_open(&out, opts->path);

	if (err)
		return err;
	p.out = out.file;
	p.numbers = calloc((size_t)greatest_label(&tree->root) + 1, sizeof(*p.numbers));
	if (p.numbers && opts->html)
		write_html(&p, tree);
	else if (p.numbers)
		write_svg(&p, tree);
	err = destination_close(&out, p.numbers != NULL);
	err = p.numbers ? err : -ENOMEM;
	free(p.numbers);
	return err;
}
