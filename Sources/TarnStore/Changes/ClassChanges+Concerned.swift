extension ClassChanges {
  /// Calls `body` for each key of `observed` that changed, going through the smaller side.
  package func forEachConcerned(
    among count: Int, _ observed: some Sequence<ObjectKey>, _ body: (ObjectKey) -> Void
  ) {
    var concerned = deleted
    for entry in touched { concerned.formUnion(entry.keys) }
    if isCleared {
      observed.forEach(body)
    } else if concerned.count < count {
      concerned.forEach(body)
    } else {
      observed.filter { concerned.contains($0) }.forEach(body)
    }
  }
}
