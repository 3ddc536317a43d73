const MARK = 'gateway-reloaded-for';

/** After a release the old page asks for files that are gone: it reloads, once for each address it was on. */
export function reloadOnceForNewAssets(): void {
  addEventListener('vite:preloadError', (event) => {
    if (sessionStorage.getItem(MARK) === location.href) return;
    sessionStorage.setItem(MARK, location.href);
    event.preventDefault();
    location.reload();
  });
}
