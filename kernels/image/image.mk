# libminirt_image.so: decoders for the operator ImageDecoder, where the libraries that know the formats are installed.

IMAGE_SRC := $(wildcard kernels/image/*.c)
IMAGE_OBJ := $(IMAGE_SRC:%.c=$B/obj/%.o)
# OpenJPEG's headers stand in a folder with its version.
IMAGE_FLAGS := $(addprefix -I,$(lastword $(sort $(wildcard /usr/include/openjpeg-*))))
IMAGE_LIBS  := -ljpeg -lpng -ltiff -lwebp -lopenjp2
IMAGE_HAVE  := $(shell printf '\043include <stdio.h>\n\043include <jpeglib.h>\n\043include <png.h>\n\043include <tiffio.h>\n\043include <webp/decode.h>\n\043include <openjpeg.h>\n' | \
	$(CC) $(CFLAGS) $(IMAGE_FLAGS) -fsyntax-only -x c - >/dev/null 2>&1 && echo yes)

ifeq ($(IMAGE_HAVE),yes)
plugins: $B/libminirt_image.so

$(IMAGE_OBJ): BASE_FLAGS += $(IMAGE_FLAGS) -fvisibility=hidden

$B/libminirt_image.so: $(IMAGE_OBJ)
	@echo "  ld $@"
	$(Q)$(CC) $(SAN) -shared -o $@ $^ $(IMAGE_LIBS)
endif
