// Light or dark, by the system's setting or as switched here, and how boards and pieces are drawn. A script
// of the old kind, so that the page is never seen in another look first.

{
  const kept = (/** @type {string} */ key, /** @type {string} */ otherwise) => {
    try {
      return localStorage.getItem(`plyhouse.${key}`) ?? otherwise;
    } catch {
      return otherwise;
    }
  };
  const { dataset } = document.documentElement;
  dataset.theme = kept('theme', 'system');
  dataset.board = kept('board', 'sea');
  dataset.pieces = kept('pieces', 'carved');
}
