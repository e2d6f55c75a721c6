import TestSupport
import Testing

@testable import Tarn
@testable import TarnStore

/// Properties of the types of which Swift's `==` says other things than the table of equality.
class Specimen: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var text: String
  @Persisted(indexed: true) var textIndexed: String
  @Persisted var float: Float
  @Persisted var double: Double
  @Persisted var doubleOrNil: Double?
  @Persisted var decimal: Decimal128
  @Persisted var mixed: AnyRealmValue
  @Persisted(indexed: true) var mixedIndexed: AnyRealmValue

  @Persisted var texts: List<String>
  @Persisted var textSet: MutableSet<String>
  @Persisted var textMap: Map<String, String>
  @Persisted var floats: List<Float>
  @Persisted var floatSet: MutableSet<Float>
  @Persisted var floatMap: Map<String, Float>
  @Persisted var doubles: List<Double>
  @Persisted var doubleSet: MutableSet<Double>
  @Persisted var doubleMap: Map<String, Double>
  @Persisted var doublesOrNil: List<Double?>
  @Persisted var doubleOrNilSet: MutableSet<Double?>
  @Persisted var doubleOrNilMap: Map<String, Double?>
  @Persisted var decimals: List<Decimal128>
  @Persisted var decimalSet: MutableSet<Decimal128>
  @Persisted var decimalMap: Map<String, Decimal128>
  @Persisted var anys: List<AnyRealmValue>
  @Persisted var anySet: MutableSet<AnyRealmValue>
  @Persisted var anyMap: Map<String, AnyRealmValue>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }

  convenience init(_ id: Int) {
    self.init()
    self.id = id
  }
}

/// A file of specimens.
struct Specimens {
  let instance: Instance
  var realm: Realm { instance.realm }

  init() throws {
    let shelter = try Shelter()
    var configuration = shelter.configuration
    configuration.objectTypes = [Specimen.self]
    instance = try Instance(configuration, shelter)
  }

  func write<R>(_ body: () throws -> R) throws -> R { try realm.write(body) }

  /// Everything in the file agrees with itself.
  func checkSound(_ comment: String = "", _ location: SourceLocation = #_sourceLocation) throws {
    let reader = try SnapshotReader(realm.core.store.newestSnapshot())
    for described in reader.schema.schema.classes { try reader.checkInvariants(of: described.id) }
    for problems in [
      SequenceCheck(reader).problems, OwnerCheck(reader).problems, TreeCheck(reader).problems,
    ] {
      #expect(problems == [], "\(comment)", sourceLocation: location)
    }
    try realm.checkIndexes()
  }
}

/// The properties of one type.
enum SpecimenType: String, CaseIterable {
  case text, textIndexed, float, double, doubleOrNil, decimal, mixed, mixedIndexed

  var properties: any SpecimenProperties {
    switch self {
    case .text: properties(\.text, \.texts, \.textSet, \.textMap)
    case .textIndexed: properties(\.textIndexed, \.texts, \.textSet, \.textMap)
    case .float: properties(\.float, \.floats, \.floatSet, \.floatMap)
    case .double: properties(\.double, \.doubles, \.doubleSet, \.doubleMap)
    case .doubleOrNil:
      properties(\.doubleOrNil, \.doublesOrNil, \.doubleOrNilSet, \.doubleOrNilMap)
    case .decimal: properties(\.decimal, \.decimals, \.decimalSet, \.decimalMap)
    case .mixed: properties(\.mixed, \.anys, \.anySet, \.anyMap)
    case .mixedIndexed: properties(\.mixedIndexed, \.anys, \.anySet, \.anyMap)
    }
  }

  private func properties<T>(
    _ single: ReferenceWritableKeyPath<Specimen, T>,
    _ list: ReferenceWritableKeyPath<Specimen, List<T>>,
    _ set: ReferenceWritableKeyPath<Specimen, MutableSet<T>>,
    _ map: ReferenceWritableKeyPath<Specimen, Map<String, T>>
  ) -> any SpecimenProperties where T: SpecimenValue {
    PropertiesOfType(name: rawValue, single: single, list: list, set: set, map: map)
  }
}

typealias SpecimenValue = _Persistable & _SortableElement & RealmCollectionValue & Hashable

/// Runs the operations of one type against the table.
protocol SpecimenProperties {
  func checkAssignments(_ file: Specimens) throws
  func checkConditions(_ file: Specimens) throws
  func checkSearching(_ file: Specimens) throws
  func checkSets(_ file: Specimens) throws
  func checkGroups(_ file: Specimens) throws
  func checkUpdates(_ file: Specimens) throws
  func checkDeltas(_ file: Specimens) throws
}

struct PropertiesOfType<T: SpecimenValue>: SpecimenProperties {
  let name: String
  let single: ReferenceWritableKeyPath<Specimen, T>
  let list: ReferenceWritableKeyPath<Specimen, List<T>>
  let set: ReferenceWritableKeyPath<Specimen, MutableSet<T>>
  let map: ReferenceWritableKeyPath<Specimen, Map<String, T>>

  struct Sample {
    let value: T
    /// As it is stored.
    let bits: Value
    /// The number of its element in the table.
    let element: Int
  }

  /// The table's values that are of the type.
  var samples: [Sample] {
    let description = T._description
    return EqualValues.all.compactMap { value, element in
      let isOfType =
        description.type == .any || value.scalarType == description.type
        || value == .null && description.isOptional
      guard isOfType, let made = T._unbox(_BoxedValue(value)) else { return nil }
      return Sample(value: made, bits: value, element: element)
    }
  }

  /// The samples that are put over one of them: all with `TARN_SEEDS=all` and if there are few,
  /// otherwise those of the same element, and every sixth of the others.
  func partners(of index: Int) -> [Sample] {
    let all = samples
    if Seeds.areAll || all.count < 12 { return all }
    return all.enumerated().compactMap { other, sample in
      let isPut = sample.element == all[index].element || (index + other) % 6 == 0
      return isPut ? sample : nil
    }
  }

  /// Of each element the value that comes first.
  var firsts: [Sample] {
    var seen: Set<Int> = []
    return samples.filter { seen.insert($0.element).inserted }
  }

  func bits(_ value: T) -> Value { value._box().value }
}
