document.addEventListener('DOMContentLoaded', () => {
    for (const one of document.querySelectorAll('.math')) window.renderMathInElement(one);
});
