/// The changes of an open write to lists, sets and maps, and the records that it removes.
final class SequenceEdits {
  /// Changed or new collections; nested ones by their ids.
  private var properties: [SequencePlace: WorkingSequence] = [:]
  private var nested: [CollectionID: WorkingSequence] = [:]
  /// Collections that were read and not changed. A write may read a million of them, so unused ones
  /// are released from time to time. Not weak: every use of an object that ever had a weak
  /// reference costs several times as much.
  private var asked: [SequencePlace: WorkingSequence] = [:]
  private var askedLimit = SequenceEdits.askedLimitMin
  private static let askedLimitMin = 1_024
  /// Nested collections created by this write.
  private(set) var made: Set<CollectionID> = []
  /// Those of them that are contained in some value.
  private var attached: Set<CollectionID> = []
  /// Nested collections whose records are removed.
  private(set) var droppedNested: Set<CollectionID> = []
  private(set) var droppedPages: [CollectionID] = []
  private(set) var droppedLongs: [CollectionID] = []
  /// Long elements that have an id and are not written yet.
  private var longs: [(id: CollectionID, bytes: [UInt8])] = []
  /// The sequences that the commit will write.
  private(set) var forms: [SequenceForm] = []
  private var isReadOff = false
  private(set) var nextID: CollectionID
  /// The last place changed, because successive changes are often in one place.
  private var recent: WorkingSequence?

  init(nextID: CollectionID) { self.nextID = nextID }

  /// A new unique id. The commit writes the counter.
  func claimID() -> CollectionID {
    defer { nextID = CollectionID(nextID.rawValue + 1) }
    return nextID
  }

  /// No collection was changed, created or dropped.
  var isUnchanged: Bool {
    properties.isEmpty && nested.isEmpty && made.isEmpty && droppedNested.isEmpty
      && droppedPages.isEmpty && droppedLongs.isEmpty && longs.isEmpty && !isReadOff
  }

  // MARK: - Finding

  func find(_ place: SequencePlace) -> WorkingSequence? {
    if let recent, recent.place == place { return recent }
    let kept = place.nested.map { nested[$0] } ?? properties[place]
    let found = kept ?? asked[place]
    if let found { recent = found }
    return found
  }

  /// Adds a sequence for other reads of the same place; until it is changed, it is kept at least as
  /// long as it is referenced elsewhere.
  func add(_ sequence: WorkingSequence) {
    if asked.count >= askedLimit { dropUnused() }
    asked[sequence.place] = sequence
    recent = sequence
  }

  /// Releases sequences without other references.
  private func dropUnused() {
    recent = nil
    var used: [SequencePlace: WorkingSequence] = [:]
    var index = asked.startIndex
    while index != asked.endIndex {
      if !isKnownUniquelyReferenced(&asked.values[index]) {
        used[asked[index].key] = asked[index].value
      }
      asked.formIndex(after: &index)
    }
    asked = used
    askedLimit = max(Self.askedLimitMin, 2 * used.count)
  }

  /// Keeps a sequence that is about to be changed.
  func keep(_ sequence: WorkingSequence) {
    if let id = sequence.place.nested {
      nested[id] = sequence
    } else {
      properties[sequence.place] = sequence
    }
  }

  func forget(_ sequence: WorkingSequence) {
    if let id = sequence.place.nested {
      nested[id] = nil
    } else {
      properties[sequence.place] = nil
    }
    asked[sequence.place] = nil
    recent = nil
  }

  /// The objects whose collection in that column was changed.
  func changedKeys(of id: ClassID, _ column: ColumnID) -> Set<ObjectKey> {
    var keys: Set<ObjectKey> = []
    for place in properties.keys where place.classID == id && place.column == column {
      keys.insert(place.key)
    }
    return keys
  }

  // MARK: - Nested collections

  /// Registers a new sequence, which is written only if it becomes part of a value.
  func make(_ sequence: WorkingSequence, _ id: CollectionID) {
    made.insert(id)
    keep(sequence)
  }

  func isDropped(_ id: CollectionID) -> Bool { droppedNested.contains(id) }

  func attach(_ id: CollectionID) {
    require(
      made.contains(id) && attached.insert(id).inserted,
      "a nested collection must be new, and in only one value")
  }

  func dropNested(_ id: CollectionID) { droppedNested.insert(id) }
  func dropPages(_ id: CollectionID) { droppedPages.append(id) }
  func dropLong(_ id: CollectionID) { droppedLongs.append(id) }

  /// Traps if the state is inconsistent. For tests.
  func checkInvariants() throws(StorageError) {
    for (place, sequence) in properties {
      require(place == sequence.place && place.nested == nil)
      try sequence.checkInvariants()
    }
    for (id, sequence) in nested {
      require(sequence.place.nested == id && id < nextID)
      try sequence.checkInvariants()
    }
    require(attached.isSubset(of: made))
    require(made.allSatisfy { $0 < nextID })
  }

  // MARK: - Long elements

  /// The elements, with references in place of values that are too long for a page.
  func shortened(_ elements: SequenceElements) -> SequenceElements {
    var result = elements
    for index in result.keys.indices where result.keys[index].isTooLong {
      result.keys[index] = shortened(result.keys[index])
    }
    for index in result.values.indices where result.values[index].isTooLong {
      result.values[index] = shortened(result.values[index])
    }
    return result
  }

  private func shortened(_ element: TaggedValue) -> TaggedValue {
    let bytes: [UInt8]
    switch element {
    case .value(.string(let text)): bytes = Array(text.utf8)
    case .value(.data(let data)): bytes = data
    case .value, .long: return element
    }
    let id = claimID()
    longs.append((id, bytes))
    return .long(id: id, byteCount: bytes.count, isString: element.isString)
  }

  // MARK: - Reading off

  /// Determines the stored form of each changed sequence. Called once, after all changes.
  func readOff() throws(StorageError) {
    require(!isReadOff, "a write can be committed only once")
    isReadOff = true
    for sequence in changed { forms.append(try form(of: sequence)) }
  }

  /// In the order of classes and objects; nested collections last.
  private var changed: [WorkingSequence] {
    if properties.isEmpty, nested.isEmpty { return [] }
    var result = properties.values.filter(\.isEdited).sorted {
      ($0.place.classID, $0.place.key, $0.place.column)
        < ($1.place.classID, $1.place.key, $1.place.column)
    }
    for (id, sequence) in nested.sorted(by: { $0.key < $1.key }) {
      if made.contains(id) ? attached.contains(id) : sequence.isEdited { result.append(sequence) }
    }
    return result
  }

  private func form(of sequence: WorkingSequence) throws(StorageError) -> SequenceForm {
    let old = sequence.base.large
    if let cell = try smallCell(of: sequence) {
      if let old { dropPages(old.id) }
      return SequenceForm(sequence: sequence, cell: cell, large: nil)
    }
    if let old, sequence.dropsPages { dropPages(old.id) }
    let keepsPages = old != nil && !sequence.dropsPages
    let id = keepsPages ? old!.id : sequence.place.nested ?? claimID()
    let large = LargeSequence(
      id: id, count: sequence.count, hasOutside: sequence.hasOutside)
    if keepsPages { try sequence.joinSparse() }
    return SequenceForm(
      sequence: sequence, cell: CollectionCell.encode(large), large: large)
  }

  /// The cell, if the elements fit into it.
  private func smallCell(of sequence: WorkingSequence) throws(StorageError) -> [UInt8]? {
    let limit =
      sequence.base.large == nil ? CollectionCell.smallBytesMax : CollectionCell.shrunkBytesMax
    if sequence.count >= limit { return nil }
    let elements = try sequence.allElements()
    guard CollectionCell.encode(elements.withPlaceholders, limit: limit) != nil else { return nil }
    return CollectionCell.encode(shortened(elements), limit: limit)
  }

  // MARK: - Writing

  /// The write has nothing to store for collections.
  private var writesNothing: Bool {
    forms.isEmpty && longs.isEmpty && droppedPages.isEmpty && droppedLongs.isEmpty
      && droppedNested.isEmpty
  }

  func write(_ transaction: borrowing WriteTransaction) throws(StorageError) {
    if writesNothing { return }
    for id in droppedPages {
      try transaction.deleteAll(.sequencePage, of: id)
      try transaction.deleteAll(.sequenceRowCounts, of: id)
    }
    for id in droppedLongs { try Pieces.element(id).delete(in: transaction) }
    for id in droppedNested {
      _ = unsafe try TreeKey.nested(id).withBytes { key throws(StorageError) in
        unsafe try transaction.delete(key)
      }
    }
    try putLongs(transaction)
    for form in forms {
      if let large = form.large {
        try SequenceWriter(form.sequence, large, self).write(transaction)
        try putLongs(transaction)
      }
      if let id = form.sequence.place.nested {
        let record = NestedRecord.encode(form.sequence.shape.kind, form.cell)
        unsafe try TreeKey.nested(id).withBytes { key throws(StorageError) in
          unsafe try withBytes(of: record) { bytes throws(StorageError) in
            unsafe try transaction.put(bytes, forKey: key)
          }
        }
      }
    }
  }

  private func putLongs(_ transaction: borrowing WriteTransaction) throws(StorageError) {
    for long in longs {
      unsafe try withBytes(of: long.bytes) { bytes throws(StorageError) in
        unsafe try Pieces.element(long.id).put(bytes, in: transaction)
      }
    }
    longs = []
  }
}

/// The stored form of a changed sequence.
struct SequenceForm {
  var sequence: WorkingSequence
  var cell: [UInt8]
  /// Nil if the elements are in the cell.
  var large: LargeSequence?
}

extension SequenceElements {
  /// The approximate size with references for long values, or slightly more.
  fileprivate var withPlaceholders: SequenceElements {
    func placeholder(_ element: TaggedValue) -> TaggedValue {
      element.isTooLong
        ? .long(id: CollectionID(.max), byteCount: .max, isString: element.isString) : element
    }
    return SequenceElements(
      keys: ContiguousArray(keys.map(placeholder)),
      values: ElementValues(values.map(placeholder)))
  }
}
