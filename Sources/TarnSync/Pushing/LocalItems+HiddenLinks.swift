import TarnStore

extension LocalItems {
  /// The links of a content that the file does not show: they are restored with their targets.
  func hiddenLinks(
    of content: Content<WireItem>, _ place: SequencePlace, _ coder: ContentCoder
  ) throws(StorageError) -> [WaitingLinks.Waiting] {
    let (column, schema) = (coder.items.column, rows.schema.schema)
    let all = LinkTarget.all(in: content.elements.items, column, schema)
    if all.isEmpty { return [] }
    let shown = LinkTarget.all(in: try elements(of: place).items, column, schema)
    return all.subtracting(shown).compactMap { WaitingLinks.Waiting($0, at: place) }
  }
}
