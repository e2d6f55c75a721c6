import TarnStore

/// The binding of a model class to one file: the column of each property. Made for each Realm
/// instance when the schema of its file is known.
@usableFromInline final class ClassBinding {
  let reflection: ClassReflection
  let schema: ClassSchema
  /// The places in a new accessor for column numbers, with these numbers.
  private let columnSlots: [(offset: Int, column: UInt16)]
  /// The column of each property; a computed one has its number instead.
  private let columnOfProperty: [UInt16]
  /// The wrappers; links after scalars, collections last.
  private let moves: [Move]
  /// The number of moves without links to other objects.
  private let scalarMoves: Int

  /// The move of a wrapper's value into its column. Not a tuple: an array of tuples would wrap each
  /// function in another one, which would be reference counted at every call.
  @safe private struct Move {
    let mover: _Mover
    let offset: Int
    let column: UInt16
  }

  /// For each column of the file the number of its property.
  private let propertyOfColumn: [Int?]
  /// The offset of the primary key's wrapper, if the key is an Int and the object key.
  private let intKeyOffset: Int?
  /// For each column whether an assignment must update an index, links or the key.
  private let upkeep: [Bool]

  /// Binds a class to its description in the file.
  /// - Precondition: the schema has a column for each stored property.
  init(_ reflection: ClassReflection, _ schema: ClassSchema) {
    self.reflection = reflection
    self.schema = schema
    var columnSlots: [(offset: Int, column: UInt16)] = []
    var columnOfProperty: [UInt16] = []
    var propertyOfColumn = [Int?](repeating: nil, count: schema.columns.count)
    for (number, property) in reflection.properties.enumerated() {
      var column = UInt16(number)
      if !property.isComputed {
        guard let id = schema.named(property.columnName)?.id else {
          trap("internal error: no column for '\(reflection.name).\(property.name)'")
        }
        column = id.rawValue
        propertyOfColumn[id.index] = number
      }
      columnOfProperty.append(column)
      if property.isDynamic { continue }
      columnSlots.append((property.offset + property.wrapper.columnOffset, column))
    }
    self.columnSlots = columnSlots
    self.columnOfProperty = columnOfProperty
    let order = reflection.properties.indices.sorted {
      (reflection.properties[$0].rank, $0) < (reflection.properties[$1].rank, $1)
    }
    moves = order.compactMap {
      let property = reflection.properties[$0]
      if property.isDynamic { return nil }
      return unsafe Move(
        mover: property.wrapper.mover, offset: property.offset, column: columnOfProperty[$0])
    }
    scalarMoves = order.prefix { reflection.properties[$0].rank == 0 }
      .count { !reflection.properties[$0].isDynamic }
    self.propertyOfColumn = propertyOfColumn
    let key = reflection.primaryKey.map { reflection.properties[$0] }
    intKeyOffset = schema.keyIsPrimary && key?.wrapper == Persisted<Int>.self ? key?.offset : nil
    upkeep = schema.columns.map {
      $0.isIndexed || $0.type == .link || $0.type == .any || $0.id == schema.primaryKey
    }
  }

  /// The property that is stored in a column.
  func property(_ column: ColumnID) -> PropertyReflection? {
    guard column.index < propertyOfColumn.count else { return nil }
    return propertyOfColumn[column.index].map { reflection.properties[$0] }
  }

  /// The properties that are stored in these columns, in the order of declaration.
  func properties<T>(
    of columns: [(column: ColumnID, T)]
  ) -> [(property: PropertyReflection, T)] {
    let numbered = columns.compactMap { column, other in
      column.index < propertyOfColumn.count
        ? propertyOfColumn[column.index].map { ($0, other) } : nil
    }
    return numbered.sorted { $0.0 < $1.0 }.map { (reflection.properties[$0.0], $0.1) }
  }

  /// The column of a property that is stored.
  func column(_ property: String) -> ColumnID? {
    guard let found = reflection.property(property), !found.isComputed else { return nil }
    return schema.named(found.columnName)?.id
  }

  var classID: ClassID { schema.id }

  var primaryKey: PropertyReflection? { reflection.primaryKey.map { reflection.properties[$0] } }

  /// The primary key of an unmanaged object; nil if the class has none.
  func primaryKey(of object: ObjectBase) -> Value? {
    guard let intKeyOffset else { return primaryKey?.readBoxed(object).value }
    let base = unsafe Unmanaged.passUnretained(object).toOpaque()
    let field = unsafe (base + intKeyOffset).assumingMemoryBound(to: Persisted<Int>.self)
    return unsafe .int(Int64(field.pointee._value ?? 0))
  }

  /// The stored properties with their columns, in the order of declaration.
  var columns: [(property: PropertyReflection, column: ColumnID)] {
    zip(reflection.properties, columnOfProperty).compactMap { property, column in
      property.isComputed ? nil : (property, ColumnID(column))
    }
  }

  func needsUpkeep(_ column: ColumnID) -> Bool { upkeep[column.index] }

  /// Traps for the primary key, which never changes.
  func checkAssignable(_ column: ColumnID, on object: ObjectBase) {
    guard column == schema.primaryKey else { return }
    trap(
      """
      \(object._propertyName(column.rawValue)) is the primary key, which cannot change once the \
      object is in a Realm. Create another object and delete this one.
      """)
  }

  /// Makes a fresh object an accessor: its properties get their columns. The caller sets the
  /// object's core, context, key and state.
  func bind(_ object: ObjectBase) {
    object._binding = self
    let base = unsafe Unmanaged.passUnretained(object).toOpaque()
    for slot in columnSlots {
      unsafe base.storeBytes(of: slot.column, toByteOffset: slot.offset, as: UInt16.self)
    }
  }

  /// Releases the values that an object had when it was unmanaged.
  func forgetValues(of object: ObjectBase) {
    for property in reflection.properties where !property.isComputed && !property.isDynamic {
      unsafe property.wrapper.forget(at: property.field(of: object))
    }
  }

  /// True if there are more moves than `moveScalars` makes.
  var hasLinks: Bool { scalarMoves < moves.count }

  /// Moves the values of an unmanaged object into its new row, except those that may link to other
  /// objects. The caller has set the object's core, context, slot and key, and updates the indexes.
  /// The primary key is written like the rest.
  func moveScalars(_ object: ObjectBase) {
    object._binding = self
    let base = unsafe Unmanaged.passUnretained(object).toOpaque()
    for move in moves[..<scalarMoves] {
      unsafe move.mover(base + move.offset, object, move.column)
    }
  }

  /// Moves the rest, links and then collections: they may give objects rows and so move this one.
  func moveLinks(_ object: ObjectBase) {
    let base = unsafe Unmanaged.passUnretained(object).toOpaque()
    for move in moves[scalarMoves...] {
      unsafe object._validate(object._context!)
      unsafe move.mover(base + move.offset, object, move.column)
    }
  }
}

extension PropertyReflection {
  /// The order in which values move into a row.
  fileprivate var rank: Int {
    if collection != .none { return 2 }
    return target != nil || type == .any ? 1 : 0
  }
}
