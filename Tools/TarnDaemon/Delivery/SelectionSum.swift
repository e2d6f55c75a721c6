extension WatchSettings {
  /// A sum of the classes, filters and columns that a position is for.
  var selectionSum: String {
    ShortSum.short(
      of: classes.sorted { $0.name < $1.name }.flatMap { one in
        [one.name, one.filter ?? "", "\(one.columns.map { $0.sorted() } ?? [])"]
      })
  }
}
