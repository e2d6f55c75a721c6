import TarnStore
import TarnText

/// The single form of equal elements of a set: the decimals 1.0 and 1.00 are one element, as are
/// 0.0 and -0.0, and 1 and 1.0 in a set of mixed values. The form whose text sorts first stays, in
/// whatever order stores have met the forms.
struct SetForms {
  private let type: ColumnType

  /// - Returns: nil for a property whose equal elements have one form only.
  init?(_ column: ColumnSchema) {
    guard [.float, .double, .decimal, .any].contains(column.type) else { return nil }
    type = column.type
  }

  /// Each element once.
  func unified(_ items: [WireItem]) -> [WireItem] {
    if items.count < 2 { return items }
    var known: [Element: WireItem] = [:]
    add(items, to: &known)
    return Array(known.values)
  }

  /// Gives equal elements of sets the same form.
  ///
  /// - Parameter present: the sets whose forms count.
  func unified(
    _ sets: [Set<WireItem>], inFormsOf present: [Set<WireItem>]
  ) -> [Set<WireItem>] {
    var known: [Element: WireItem] = [:]
    for set in present { add(set, to: &known) }
    return sets.map { set in Set(set.map { known[element($0)] ?? $0 }) }
  }

  private func add(_ items: some Sequence<WireItem>, to known: inout [Element: WireItem]) {
    for item in items {
      let element = element(item)
      if let former = known[element], !item.isBefore(former) { continue }
      known[element] = item
    }
  }

  /// The identity of an element.
  private enum Element: Hashable {
    case value(ElementKey)
    /// The identity of a link.
    case text(WireItem)
  }

  private func element(_ item: WireItem) -> Element {
    ScalarCoder.value(item.json, as: type).map { .value(ElementKey($0)) } ?? .text(item)
  }
}

extension Content where Value == WireItem {
  /// Versions of a set in which equal elements have the same form.
  static func unified(
    _ contents: [Self], inFormsOf present: [Self], _ column: ColumnSchema
  ) -> [Self] {
    guard column.collection == .set, let forms = SetForms(column) else { return contents }
    func sets(_ contents: [Self]) -> [Set<WireItem>] {
      contents.map { content in
        if case .set(let set) = content { set } else { [] }
      }
    }
    return forms.unified(sets(contents), inFormsOf: sets(present)).map { .set($0) }
  }
}
