/* Opens the library, and says in words what it met: a GPU or none. */
#include <gemmsmith/gemmsmith.h>
#include <stdio.h>

int main(void) {
  gemmsmith_context* context = NULL;
  const gemmsmith_status status = gemmsmith_context_create(&context, NULL);
  if (gemmsmith_abi() != GEMMSMITH_ABI) return 1;
  if (status == GEMMSMITH_OK)
    printf("gemmsmith %s\n", gemmsmith_version());
  else
    printf("gemmsmith %s: %s: %s\n", gemmsmith_version(), gemmsmith_status_text(status), gemmsmith_last_error());
  gemmsmith_context_destroy(context);
  return status == GEMMSMITH_OK || status == GEMMSMITH_NO_DRIVER ? 0 : 1;
}
