import TarnStore
import TarnText

/// The canonical form in which the elements of a property are compared and stored. SQL may have
/// written others.
///
/// An embedded object is an object with its properties, a link the primary key of its target. In a
/// mixed value a link is `{"$type": "link", "class": …, "value": …}`, and a map that has a key
/// `$type` is `{"$type": "map", "value": …}`.
struct ItemCoder: Sendable {
  let schema: StoreSchema
  let column: ColumnSchema

  /// The element of a JSON value; null is zero in a collection without nulls.
  ///
  /// - Parameter faults: receives the values that the property cannot hold. An embedded object
  ///   loses the members that do not fit.
  /// - Returns: nil for an element that is left out.
  func item(_ json: JSONValue, _ faults: inout [ValueFault]) -> WireItem? {
    if json == .null, Self.hasNoNulls(column) {
      faults.append(Self.noNull)
      return nil
    }
    return element(json, column, &faults).map { WireItem($0) }
  }

  private static let noNull = ValueFault("null is not an element of it")

  /// Whether a property is a list or set of objects.
  private static func hasNoNulls(_ column: ColumnSchema) -> Bool {
    column.type == .link && [.list, .set].contains(column.collection)
  }

  static func isBefore(_ a: StoredText, _ b: StoredText) -> Bool {
    a.text.utf8.lexicographicallyPrecedes(b.text.utf8)
  }

  /// The embedded class of a property.
  static func embedded(_ column: ColumnSchema, _ schema: StoreSchema) -> ClassSchema? {
    column.target.flatMap { schema[$0] }.flatMap { $0.isEmbedded ? $0 : nil }
  }

  /// The type of single values; for a link, of the target's primary key.
  static func type(of column: ColumnSchema, _ schema: StoreSchema) -> ColumnType {
    guard let target = column.target.flatMap({ schema[$0] }), let key = target.primaryKey else {
      return column.type
    }
    return target[key].type
  }

  private func element(
    _ json: JSONValue, _ column: ColumnSchema, _ faults: inout [ValueFault]
  ) -> JSONValue? {
    if let embedded = Self.embedded(column, schema) { return object(json, embedded, &faults) }
    if column.type == .any {
      guard column.collection == .set, Self.isCollection(json) else {
        return mixed(json, 0, &faults)
      }
      faults.append(ValueFault("\(ValueFault.shown(json)) is not an element of a set"))
      return nil
    }
    let type = Self.type(of: column, schema)
    guard let value = json == .null ? .null : ScalarCoder.value(json, as: type) else {
      faults.append(.misfit(json, type))
      return nil
    }
    if let fault = Self.fault(value, column) {
      faults.append(fault)
      return nil
    }
    if type == .decimal, ScalarCoder.isRounded(json) { faults.append(.rounded) }
    return value == .null ? absent(column, type) : ScalarCoder.json(value, as: type)
  }

  /// Why the program's type cannot hold a value; nil if it can.
  private static func fault(_ value: Value, _ column: ColumnSchema) -> ValueFault? {
    guard let domain = column.domain else { return nil }
    let property = column.collection == .none ? column.type : nil
    guard value == .null, !column.isOptional else {
      return .outside(domain, value, ofProperty: property)
    }
    // It would be read as the type's zero.
    let fault = ValueFault.outside(domain, column.type.zero, ofProperty: property)
    return fault.map { _ in noNull }
  }

  private func absent(_ column: ColumnSchema, _ type: ColumnType) -> JSONValue {
    column.isOptional || column.type == .link
      ? .null : ScalarCoder.json(column.type.zero, as: type)
  }

  /// An embedded object, including members that are unknown here.
  private func object(
    _ json: JSONValue, _ described: ClassSchema, _ faults: inout [ValueFault]
  ) -> JSONValue? {
    if json == .null { return .null }
    guard case .object(let members) = json else {
      faults.append(ValueFault("\(ValueFault.shown(json)) is not an object"))
      return nil
    }
    let columns = described.columns.filter { !$0.isRemoved }
    var known: [JSONMember] = []
    for column in columns {
      let count = faults.count
      if let value = property(json[column.name] ?? .null, column, &faults) {
        known.append(JSONMember(column.name, value))
      }
      faults.place(".\(column.name)", since: count)
    }
    let names = Set(columns.map { StoredText($0.name) })
    return Self.sorted(known + members.filter { !names.contains(StoredText($0.name)) })
  }

  private func property(
    _ json: JSONValue, _ column: ColumnSchema, _ faults: inout [ValueFault]
  ) -> JSONValue? {
    switch (column.collection, json) {
    case (.none, _): return element(json, column, &faults)
    case (.list, .array(let items)): return .array(elements(items, column, &faults))
    case (.set, .array(let items)):
      let known = elements(items, column, &faults).map { WireItem($0) }
      return Self.set((SetForms(column)?.unified(known) ?? known).map(\.json))
    case (.map, .object(let members)):
      var known: [JSONMember] = []
      for member in members {
        let count = faults.count
        let key = MapKey.key(member.name)
        if let value = element(member.value, column, &faults) {
          known.append(JSONMember(MapKey.name(key), value))
        }
        faults.place("[\"\(key)\"]", since: count)
      }
      return Self.sorted(known)
    case (.map, .null): return .object([])
    case (.list, .null), (.set, .null): return .array([])
    default:
      faults.append(.shape(json, column.collection))
      return nil
    }
  }

  private func elements(
    _ items: [JSONValue], _ column: ColumnSchema, _ faults: inout [ValueFault]
  ) -> [JSONValue] {
    var known: [JSONValue] = []
    for (place, item) in items.enumerated() {
      let count = faults.count
      if item == .null, Self.hasNoNulls(column) {
        faults.append(Self.noNull)
      } else if let value = element(item, column, &faults) {
        known.append(value)
      }
      faults.place("[\(place)]", since: count)
    }
    return known
  }

  /// Whether a mixed value is a list or a map.
  private static func isCollection(_ json: JSONValue) -> Bool {
    if case .array = json { return true }
    return MixedJSON.members(ofMap: json) != nil
  }

  /// A mixed value is left out as a whole.
  private func mixed(
    _ json: JSONValue, _ depth: Int, _ faults: inout [ValueFault]
  ) -> JSONValue? {
    switch json {
    case .array(let items):
      guard Self.isAllowed(depth, &faults) else { return nil }
      var known: [JSONValue] = []
      for item in items {
        guard let value = mixed(item, depth + 1, &faults) else { return nil }
        known.append(value)
      }
      return .array(known)
    case .object:
      if let members = MixedJSON.members(ofMap: json) { return map(members, depth, &faults) }
      if MixedJSON.isLink(json) { return link(json, &faults) }
    default: break
    }
    guard let value = ScalarCoder.value(json, as: .any) else {
      faults.append(.misfit(json, .any))
      return nil
    }
    if ScalarCoder.isRounded(mixed: json) { faults.append(.rounded) }
    return ScalarCoder.json(value, as: .any)
  }

  private func map(
    _ members: [JSONMember], _ depth: Int, _ faults: inout [ValueFault]
  ) -> JSONValue? {
    guard Self.isAllowed(depth, &faults) else { return nil }
    var known: [JSONMember] = []
    for member in members {
      guard let value = mixed(member.value, depth + 1, &faults) else { return nil }
      known.append(JSONMember(MapKey.name(MapKey.key(member.name)), value))
    }
    return Self.map(known)
  }

  private static func isAllowed(_ depth: Int, _ faults: inout [ValueFault]) -> Bool {
    if depth < SequencePlace.depthMax { return true }
    faults.append(
      ValueFault("lists and maps in it are nested deeper than \(SequencePlace.depthMax)"))
    return false
  }

  /// A link to an object of a class that is unknown here is left unchanged.
  private func link(_ json: JSONValue, _ faults: inout [ValueFault]) -> JSONValue? {
    guard case .string(let name)? = json["class"], let inner = json["value"] else {
      faults.append(ValueFault("a link without \"class\" and \"value\""))
      return nil
    }
    guard let target = schema.named(name), let key = target.primaryKey else { return json }
    guard let value = ScalarCoder.value(inner, as: target[key].type), value != .null else {
      faults.append(.misfit(inner, target[key].type))
      return nil
    }
    return MixedJSON.link(to: name, ScalarCoder.json(value, as: target[key].type))
  }

  // MARK: - Forms

  static func sorted(_ members: [JSONMember]) -> JSONValue { .object(inOrder(members)) }

  private static func inOrder(_ members: [JSONMember]) -> [JSONMember] {
    members.sorted { isBefore(StoredText($0.name), StoredText($1.name)) }
  }

  /// A map in a mixed value.
  static func map(_ members: [JSONMember]) -> JSONValue { MixedJSON.map(inOrder(members)) }

  static func set(_ items: [JSONValue]) -> JSONValue {
    let texts = Set(items.map { WireItem($0) })
    return .array(texts.sorted { $0.isBefore($1) }.map(\.json))
  }
}
