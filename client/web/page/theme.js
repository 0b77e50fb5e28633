// Light or dark: by the system's setting, or as switched here. A script of the old kind, so that the
// page is never seen in the other theme first.

{
  const theme = /** @returns {string} */ () => {
    try {
      return localStorage.getItem('plyhouse.theme') ?? 'system';
    } catch {
      return 'system';
    }
  };
  document.documentElement.dataset.theme = theme();
}
