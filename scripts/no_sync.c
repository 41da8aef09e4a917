/* Preloaded by .ci/run: programs do not wait until files are on the disk. Only a loss of power would tell the difference. */
int fsync(int file) { return (void)file, 0; }
int fdatasync(int file) { return (void)file, 0; }
void sync(void) {}
