/* sum_type.h: for bodies that sum products in floats and integers alike. Included at their top; sum_type_end.h at
 * their end.
 *   C        the type of sums: double, or the unsigned type that wraps      GET(x)  S → C
 *   PUT(v)   C → S, with the one rounding */
#ifdef LD
#define C      double
#define GET(x) LD(x)
#define PUT(v) ST(mr_canonical(v))
#else
#define C      U
#define GET(x) ((U)(x))
#define PUT(v) ((S)(v))
#endif
