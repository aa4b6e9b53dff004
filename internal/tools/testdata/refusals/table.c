#include <stdio.h>
#include <string.h>

#define MAX_ROWS 64

struct row {
	char	name[32];
	int	count;
	double	price;	/* in cents */
};

static struct row rows[MAX_ROWS];
static int used;

/* add_row appends a row; it returns -1 if the table is full. */
int add_row(const char *name, int count, double price)
{
	struct row *r;

	if (used == MAX_ROWS) {
		fprintf(stderr, "table: no room for \"%s\"\n", name);
		return -1;
	}
	r = &rows[used++];
	strncpy(r->name, name, sizeof r->name - 1);
	r->count = count;
	r->price = price;
	return 0;
}

/* print_table prints all rows and their sum. */
void print_table(FILE *out)
{
	double sum = 0;
	int i;

	for (i = 0; i < used; i++) {
		const struct row *r = &rows[i];

		fprintf(out, "%-31s %5d %10.2f\n",
			r->name,
			r->count,
			r->price * r->count / 100);
		sum += r->price * r->count;
	}
	if (used > 1)
		fprintf(out, "%-31s %5s %10.2f\n", "sum", "", sum / 100);
	if (used == 0)
		fprintf(out, "(empty)\t(no rows)\n");
}
