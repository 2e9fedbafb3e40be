/* What the generated callers of functions call; it stands behind the user's text, in C and in C++. */
#ifdef __cplusplus
extern "C" {
#endif
int ws_harness_begin(const char *, int, int);
long long ws_harness_count(const char *, long long, int);
int ws_harness_fits(void);
void *ws_harness_buffer(const char *, long long, int, int);
void ws_harness_member(void *, long long, int, int, int, int);
void ws_harness_padding(const char *);
void ws_harness_object(const char *, void *, long long, int, int, int);
void ws_harness_value(const void *, int, int);
void ws_harness_end(void);
#ifdef __cplusplus
}
namespace {
struct ws_any {
    void *at;
    template <class T> operator T *() const { return (T *)at; }
};
} // namespace
#define WS_ANY(p) (ws_any{(void *)(p)})
#define WS_EXTERN extern "C"
#else
#define WS_ANY(p) ((void *)(p))
#define WS_EXTERN
#endif
