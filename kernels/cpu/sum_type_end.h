#undef C
#undef GET
#undef PUT
