/// Lists, sets and maps as the public API and the tools change them: elements together with their
/// links, nested collections and change notes.
///
/// The caller checks positions and types; a wrong one traps. Every change records the owner's
/// column as touched.
extension WriteSession {
  // MARK: - Finding

  /// The collection at that place in this write, nil if its owner or the value that contains it no
  /// longer exists. Valid as long as the owner and the session.
  package func sequence(at place: SequencePlace) throws(StorageError) -> WorkingSequence? {
    try place.checkDepth()
    if let known = sequences.find(place) { return known }
    let found: StoredSequence?
    if let id = place.nested {
      found = sequences.isDropped(id) ? nil : try reader.nestedSequence(id)
    } else {
      found = try propertySequence(place)
    }
    guard let found else { return nil }
    let sequence = WorkingSequence(place, found, sequences)
    sequences.add(sequence)
    return sequence
  }

  /// The cell in the owner's row: empty in an object that this write added, even if a deleted
  /// object had its key.
  private func propertySequence(_ place: SequencePlace) throws(StorageError) -> StoredSequence? {
    let value = try value(of: place.column, at: place.key, in: place.classID)
    guard case .data(let bytes) = value else { return nil }
    let shape = SequenceShape(schema[place.classID][place.column])
    return try StoredSequence(CollectionCell(bytes, shape), shape, reader.snapshot)
  }

  /// A collection for reading, before anything changes. Unlike `sequence(at:)`, this keeps no state
  /// for a property's collection.
  func glance(at place: SequencePlace) throws(StorageError) -> (any SequenceReading)? {
    if place.nested != nil { return try sequence(at: place) }
    if let known = madeSequences?.find(place) { return known }
    return try propertySequence(place)
  }

  func existing(_ place: SequencePlace) throws(StorageError) -> WorkingSequence {
    guard let found = try sequence(at: place) else {
      throw StorageError(
        .invalidInput, operation: "change collection", path: "",
        detail: "The collection's object was deleted, or the value that held it replaced.")
    }
    return found
  }

  // MARK: - Lists

  package func insert(
    _ value: Value, at index: Int, in place: SequencePlace
  ) throws(StorageError) {
    let sequence = try existing(place)
    if sequence.shape.mayRefer { return try insert([value], at: index, in: place) }
    try add(value, key: nil, at: index, to: sequence)
  }

  package func insert(
    _ values: [Value], at index: Int, in place: SequencePlace
  ) throws(StorageError) {
    try replace(index..<index, with: values, in: place)
  }

  /// Replaces the elements in a range of positions, counted before any embedded object moves.
  package func replace(
    _ range: Range<Int>, with values: [Value], in place: SequencePlace
  ) throws(StorageError) {
    try changing { () throws(StorageError) in
      let sequence = try existing(place)
      if ownsElements(place) {
        try replaceOwned(range, with: values, in: sequence)
      } else {
        try replaceElements(range, with: values, in: sequence)
      }
    }
  }

  func replaceElements(
    _ range: Range<Int>, with values: [Value], in sequence: WorkingSequence
  ) throws(StorageError) {
    if !range.isEmpty {
      try release(range, of: sequence)
      if range == 0..<sequence.count {
        try sequence.removeAll()
      } else {
        try sequence.remove(range)
      }
      touch(sequence.place)
    }
    if !values.isEmpty { try insert(values, at: range.lowerBound, in: sequence) }
  }

  /// Sets an element, and records it as modified even if it is equal.
  package func set(
    _ value: Value, at index: Int, in place: SequencePlace
  ) throws(StorageError) {
    try changing { () throws(StorageError) in
      try set(value, at: index, in: existing(place))
    }
  }

  /// Removes the elements at those positions, also of a set or map.
  package func remove(
    _ range: Range<Int>, in place: SequencePlace
  ) throws(StorageError) {
    try changing { () throws(StorageError) in
      let sequence = try existing(place)
      try release(range, of: sequence)
      try sequence.remove(range)
      touch(place)
    }
  }

  /// Removes all elements. They are not read if they refer to nothing.
  package func removeAll(in place: SequencePlace) throws(StorageError) {
    try changing { () throws(StorageError) in
      let sequence = try existing(place)
      try release(0..<sequence.count, of: sequence)
      try sequence.removeAll()
      touch(place)
    }
  }

  /// Removes an element of a list and inserts it so that its position is `target`.
  package func move(
    from index: Int, to target: Int, in place: SequencePlace
  ) throws(StorageError) {
    try existing(place).move(from: index, to: target)
    touch(place)
  }

  /// Swaps two elements of a list.
  package func swap(_ a: Int, _ b: Int, in place: SequencePlace) throws(StorageError) {
    try existing(place).swap(a, b)
    touch(place)
  }

  // MARK: - Sets and maps

  /// Adds an element to a set. An existing one is not changed, and nothing is recorded.
  @discardableResult
  package func insert(
    _ value: Value, intoSet place: SequencePlace
  ) throws(StorageError) -> (index: Int, isNew: Bool) {
    let sequence = try existing(place)
    let (index, isFound) = try sequence.find(value)
    if isFound { return (index, false) }
    if value.isLink, ownsElements(place) {
      try changing { () throws(StorageError) in
        _ = try take([value], for: place)
        try add(value, key: nil, at: index, to: sequence)
      }
    } else {
      try add(value, key: nil, at: index, to: sequence)
    }
    return (index, true)
  }

  /// Removes an element from a set. False if it is not a member.
  @discardableResult
  package func remove(
    _ value: Value, fromSet place: SequencePlace
  ) throws(StorageError) -> Bool {
    let (index, isFound) = try existing(place).find(value)
    if isFound { try remove(index..<index + 1, in: place) }
    return isFound
  }

  /// Sets the value of a map's key.
  package func set(
    _ value: Value, forKey key: String, inMap place: SequencePlace
  ) throws(StorageError) {
    try changing { () throws(StorageError) in
      let sequence = try existing(place)
      let (index, isFound) = try sequence.find(key: key)
      if isFound { return try set(value, at: index, in: sequence) }
      if try take([value], for: place) { try clear(value, in: sequence) }
      try add(value, key: key, at: index, to: sequence)
    }
  }

  /// Makes an embedded object's value in a map null, because it gets another key.
  private func clear(_ value: Value, in map: WorkingSequence) throws(StorageError) {
    let column = schema[map.place.classID][map.place.column]
    guard let target = column.linkTarget(of: value) else { return }
    try sweep(map.place) { $0 == target }
  }

  /// Removes a key and its value from a map. False if the key does not exist.
  @discardableResult
  package func removeValue(
    forKey key: String, fromMap place: SequencePlace
  ) throws(StorageError) -> Bool {
    let (index, isFound) = try existing(place).find(key: key)
    if isFound { try remove(index..<index + 1, in: place) }
    return isFound
  }

  // MARK: - Nested collections

  /// A new empty list or map, to be set once as a `Value.list` or `.map`. Otherwise it is not
  /// written.
  ///
  /// - Parameter place: of the collection that will contain it; its own is `place.nested(id)`.
  ///   Throws if it would exceed the depth of lists and maps.
  package func makeNested(
    _ kind: CollectionKind, in place: SequencePlace
  ) throws(StorageError) -> CollectionID {
    require(kind == .list || kind == .map, "only lists and maps can be nested in values")
    guard place.depth < SequencePlace.depthMax else {
      throw StorageError(
        .invalidInput, operation: "change collection", path: "",
        detail: "Lists and maps within values may be up to \(SequencePlace.depthMax) deep.")
    }
    let id = sequences.claimID()
    let base = try StoredSequence(.empty, .nested(kind), reader.snapshot)
    sequences.make(WorkingSequence(place.nested(id), base, sequences), id)
    return id
  }

  /// Records that a mixed value has been added.
  func adopt(_ value: Value) {
    switch value {
    case .list(let id), .map(let id): sequences.attach(id)
    default: break
    }
  }

  /// Drops the list or map of a mixed value with its contents: iteratively and each once, because a
  /// damaged file may have collections nested in each other.
  func drop(_ value: Value, at place: SequencePlace) throws(StorageError) {
    guard let id = value.collection else { return }
    dropping.append((id, place))
    if isDropping { return }
    isDropping = true
    defer {
      isDropping = false
      dropping = []
    }
    while let (id, place) = dropping.popLast() {
      guard let sequence = try sequence(at: place.atAnyDepth(id)) else { continue }
      sequences.dropNested(id)
      try drop(sequence)
    }
  }

  // MARK: - Dropping

  /// Drops the collections of an object that is about to be deleted.
  package func dropSequences(of key: ObjectKey, in id: ClassID) throws(StorageError) {
    for column in schema.holding(in: id) {
      let place = SequencePlace(classID: id, key: key, column: column.id)
      if column.collection != .none {
        if let sequence = try sequence(at: place) { try drop(sequence) }
      } else if let value = try value(of: column.id, at: key, in: id) {
        try drop(value, at: place)
      }
    }
  }

  /// Drops the collections of all objects of a class that is about to be emptied.
  func dropSequences(in id: ClassID) throws(StorageError) {
    if schema.holding(in: id).isEmpty { return }
    var keys: [ObjectKey] = []
    try forEachImage(in: id) { image throws(StorageError) in
      for slot in 0..<image.rowCount { keys.append(image.key(at: slot)) }
      return true
    }
    for key in keys { try dropSequences(of: key, in: id) }
  }

  private func drop(_ sequence: WorkingSequence) throws(StorageError) {
    try release(0..<sequence.count, of: sequence)
    if let large = sequence.base.large { sequences.dropPages(large.id) }
    sequences.forget(sequence)
  }

  // MARK: - Elements

  private func insert(
    _ values: [Value], at index: Int, in sequence: WorkingSequence
  ) throws(StorageError) {
    if values.count == 1 { return try add(values[0], key: nil, at: index, to: sequence) }
    for value in values { check(value, sequence) }
    try sequence.insert(
      SequenceElements(keys: [], values: ElementValues(values.map { .value($0) })), at: index)
    if sequence.shape.mayBeLong || sequence.shape.mayRefer {
      for value in values { try own(.value(value), in: sequence) }
    }
    touch(sequence.place)
  }

  /// The same for one element: the common case, without the cost of arrays.
  private func add(
    _ value: Value, key: String?, at index: Int, to sequence: WorkingSequence
  ) throws(StorageError) {
    check(value, sequence)
    let key = key.map { TaggedValue.value(.string($0)) }
    try sequence.insert(.value(value), key: key, at: index)
    if sequence.shape.mayBeLong || sequence.shape.mayRefer {
      if let key, key.isOutside { sequence.hasOutside = true }
      try own(.value(value), in: sequence)
    }
    touch(sequence.place)
  }

  private func set(
    _ value: Value, at index: Int, in sequence: WorkingSequence
  ) throws(StorageError) {
    check(value, sequence)
    let element = TaggedValue.value(value)
    if value.isLink, ownsElements(sequence.place), try sequence.element(at: index) != element,
      try take([value], for: sequence.place)
    {
      guard sequence.shape.isMap else {
        return try replaceOwned(index..<index + 1, with: [value], in: sequence)
      }
      try clear(value, in: sequence)
    }
    if sequence.shape.mayRefer || sequence.hasOutside {
      let old = try sequence.element(at: index)
      if old == element, element.isOutside { return touch(sequence.place) }
      try release(old, sequence)
    }
    try sequence.set(element, at: index)
    try own(element, in: sequence)
    touch(sequence.place)
  }

  private func check(_ value: Value, _ sequence: WorkingSequence) {
    require(
      sequence.shape.accepts(value), "a collection of \(sequence.shape.type) cannot hold \(value)")
  }

  func touch(_ place: SequencePlace) {
    recorder.touch(place.classID, place.key, place.column)
  }

  /// Records the references of a new element.
  func own(
    _ element: TaggedValue, in sequence: WorkingSequence
  ) throws(StorageError) {
    if element.isOutside { sequence.hasOutside = true }
    guard sequence.shape.mayRefer, case .value(let value) = element else { return }
    adopt(value)
    if value.isLink { try noteLink(added: true, target: value, at: sequence.place) }
  }

  /// Releases the references of elements that are about to be removed.
  func release(
    _ range: Range<Int>, of sequence: WorkingSequence
  ) throws(StorageError) {
    guard sequence.shape.mayRefer || sequence.hasOutside else { return }
    if sequence.shape.isMap, sequence.hasOutside {
      for position in range { try release(sequence.keyElement(at: position), sequence) }
    }
    try sequence.forEachElement(in: range) { element throws(StorageError) in
      try release(element, sequence)
      return true
    }
  }

  private func release(
    _ element: TaggedValue, _ sequence: WorkingSequence
  ) throws(StorageError) {
    switch element {
    case .long(let id, _, _): sequences.dropLong(id)
    case .value(let value) where value.isLink:
      try noteLink(added: false, target: value, at: sequence.place)
    case .value(let value): try drop(value, at: sequence.place)
    }
  }

  // MARK: - Committing

  /// Determines the parts of the collections that the commit writes: sets the owners' cells and
  /// records scripts. The collections must not be changed afterwards.
  func readOffSequences() throws(StorageError) {
    guard let sequences = madeSequences else { return }
    try sequences.readOff()
    if sequences.forms.isEmpty { return }
    var scripts: [ClassID: [SequenceChange]] = [:]
    for form in sequences.forms {
      let place = form.sequence.place
      if place.nested == nil, let (cluster, slot) = try edit(place.key, in: place.classID) {
        cluster.set(place.column, slot, .data(form.cell))
      }
      if let id = place.nested, sequences.made.contains(id) { continue }
      let name = SequenceName(column: place.column, key: place.key, nested: place.nested)
      scripts[place.classID, default: []]
        .append(SequenceChange(name: name, script: form.sequence.script))
    }
    for (id, changes) in scripts { recorder.noteSequences(id, changes) }
  }
}
