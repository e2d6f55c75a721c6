import TarnStore
import TarnText

/// Writes a content of the server into a property with as few changes as possible: elements that
/// stay are not touched, and embedded objects that stay are changed in place.
struct ContentWriter {
  private let writer: LocalWriter
  private let place: SequencePlace
  private let coder: ContentCoder
  private let column: ColumnSchema
  private let schema: StoreSchema

  init(_ writer: LocalWriter, _ place: SequencePlace, _ coder: ContentCoder) {
    (self.writer, self.place, self.coder) = (writer, place, coder)
    column = coder.items.column
    schema = writer.session.schema.schema
  }

  /// - Parameter present: the current content of the property, with names.
  /// - Returns: whether anything changed, and the links whose targets are missing here.
  func write(
    _ content: Content<WireItem>, over present: Content<WireItem>?
  ) throws(StorageError) -> (isChanged: Bool, waiting: [WaitingLinks.Waiting]) {
    if let embedded = ItemCoder.embedded(column, schema) {
      return (try writeEmbedded(content, over: present, embedded.id), try waiting(content))
    }
    guard column.collection != .none else {
      let copy = try self.copy(element(content)?.content.value ?? .null)
      return (try writer.set(copy, at: place), try waiting(content))
    }
    let (items, keys) = content.elements
    var (values, names): ([CopiedValue], [String]) = ([], [])
    for (index, item) in items.enumerated() {
      let isWaiting = try writer.isWaiting(item.json, column)
      if isWaiting, column.omitsMissingLinks { continue }
      values.append(try copy(item))
      if column.collection == .map { names.append(keys[index]) }
    }
    let isChanged = try writer.session.assign(values, keys: names, in: place)
    return (isChanged, try waiting(content))
  }

  private func copy(_ item: WireItem) throws(StorageError) -> CopiedValue {
    try writer.copy(item.json, column)
  }

  private func element(_ content: Content<WireItem>) -> ListElement<WireItem>? {
    if case .one(let element) = content { element } else { nil }
  }

  // MARK: - Embedded objects

  private func writeEmbedded(
    _ content: Content<WireItem>, over present: Content<WireItem>?, _ id: ClassID
  ) throws(StorageError) -> Bool {
    let known = try writer.embeddedKeys(column, place)
    let (items, names) = content.elements
    var former: [ElementID: (key: ObjectKey?, item: WireItem)] = [:]
    if case .list(let list)? = present, list.count == known.count {
      for (element, one) in zip(list, known) {
        former[element.id] = (one.key, element.content.value)
      }
    }
    let mayLink = writer.session.schema[id].columns.contains {
      !$0.isRemoved && [.link, .any].contains($0.type)
    }
    var (keys, isChanged): ([ObjectKey?], Bool) = ([], false)
    for (index, item) in items.enumerated() {
      var over: ObjectKey?
      switch content {
      case .list(let list):
        let was = former[list[index].id]
        // The target of a link may have been deleted in the same write.
        if let was, was.item == item, !mayLink {
          keys.append(was.key)
          continue
        }
        over = was?.key
      case .map: over = known.first { $0.name.hasSameBytes(as: names[index]) }?.key
      default:
        // SQL writes no names: it has changed the existing object.
        let name = element(content)?.id
        let isSame = name?.isOfSQL == true || present.flatMap(element)?.id == name
        over = isSame ? known.first?.key : nil
      }
      let (key, differs) = try writer.written(item.json, over: over, id)
      keys.append(key)
      isChanged = isChanged || differs
    }
    return try writer.hold(keys, named: names, column, place) || isChanged
  }

  // MARK: - Links

  private func waiting(
    _ content: Content<WireItem>
  ) throws(StorageError) -> [WaitingLinks.Waiting] {
    var waiting: [WaitingLinks.Waiting] = []
    for target in LinkTarget.all(in: content.elements.items, column, schema) {
      let isHere = try writer.session.find(primaryKey: target.key, in: target.id) != nil
      if !isHere, let link = WaitingLinks.Waiting(target, at: place) { waiting.append(link) }
    }
    return waiting
  }
}
