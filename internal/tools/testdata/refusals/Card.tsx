import { useEffect, useState } from 'react';
import { formatPrice, type Article } from '../lib/articles';

interface Props {
  article: Article;
  onAdd: (article: Article, count: number) => void;
  onRemove?: (article: Article) => void;
}

export function Card({ article, onAdd, onRemove }: Props) {
  const [count, setCount] = useState(1);
  const [open, setOpen] = useState(false);

  useEffect(() => {
    if (count < 1 || count > article.stock) {
      setCount(Math.min(Math.max(count, 1), article.stock));
    }
  }, [count, article.stock]);

  return (
    <section className="card" aria-label={article.name}>
      <h2>{article.name}</h2>
      {article.stock > 0 && article.price < 100 ? (
        <p className="price">{formatPrice(article.price)} &amp; free delivery</p>
      ) : (
        <p className="price sold-out">Not available</p>
      )}
      <label>
        Count
        <input type="number" value={count} onChange={(e) => setCount(Number(e.target.value))} />
      </label>
      <button type="button" disabled={article.stock === 0} onClick={() => onAdd(article, count)}>
        Add to cart
      </button>
      {onRemove && (
        <button type="button" onClick={() => onRemove(article)}>
          Remove
        </button>
      )}
      <details open={open} onToggle={() => setOpen(!open)}>
        <summary>Details</summary>
        <p dangerouslySetInnerHTML={{ __html: article.description }} />
      </details>
    </section>
  );
}
