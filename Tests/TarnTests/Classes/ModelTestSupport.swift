import CTarn
import Foundation
import TarnStore
import Testing

@testable import Tarn

enum ModelMood: String, PersistableEnum { case calm, wild }
enum ModelSize: Int16, PersistableEnum {
  case small = 7
  case large = 9
}
enum ModelGrade: Double, PersistableEnum {
  case low = 0.5
  case high = 1.5
}

class ModelEverything: Object {
  @Persisted(primaryKey: true) var _id: ObjectId
  @Persisted var int: Int
  @Persisted var int8: Int8
  @Persisted var int16: Int16 = -3
  @Persisted var int32: Int32
  @Persisted(indexed: true) var int64: Int64
  @Persisted var bool: Bool
  @Persisted var float: Float
  @Persisted var double = 2.5
  @Persisted(indexed: true) var string = "text"
  @Persisted var data: Data
  @Persisted var date: Date
  @Persisted var uuid: UUID
  @Persisted var decimal: Decimal128
  @Persisted var mood: ModelMood
  @Persisted var size = ModelSize.large
  @Persisted var grade: ModelGrade
  @Persisted var optionalInt: Int?
  @Persisted var optionalInt8: Int8? = 8
  @Persisted var optionalBool: Bool?
  @Persisted var optionalFloat: Float?
  @Persisted var optionalDouble: Double?
  @Persisted var optionalString: String?
  @Persisted var optionalData: Data?
  @Persisted var optionalDate: Date?
  @Persisted var optionalUUID: UUID?
  @Persisted var optionalId: ObjectId?
  @Persisted var optionalDecimal: Decimal128?
  @Persisted var optionalMood: ModelMood?
  @Persisted var link: ModelEverything?
  @Persisted(originProperty: "link") var linking: LinkingObjects<ModelEverything>
  var ordinary = 1
}

class ModelDog: Object {
  @Persisted(primaryKey: true) var _id: Int
  @Persisted var name = ""
  @Persisted(indexed: true) var age = 0
  @Persisted var weight = 0.0
  @Persisted var isGood = true
  @Persisted var nickname: String?
  @Persisted var shoeSize: Int?
  @Persisted var photo: Data
  @Persisted var born: Date
  @Persisted var mood: ModelMood
  @Persisted var mother: ModelDog?
  @Persisted var favouriteToy: ModelToy?
  var label: String { "\(name) \(age)" }
  var doubled: Int { 2 * age + _id }
}

class ModelToy: Object {
  @Persisted var color = ""
  @Persisted var price: Double?
  @Persisted(originProperty: "favouriteToy") var dogs: LinkingObjects<ModelDog>

  override class func propertiesMapping() -> [String: String] { ["color": "colour"] }
}

class ModelPuppy: ModelDog {
  @Persisted var weeks = 3
}

/// What a class, and those that it links to, ask of a file: the class itself.
func definition(of type: ObjectBase.Type) throws -> ClassDefinition {
  let linked = ClassReflection.of(type).properties.compactMap(\.target)
  let definitions = try ModelSchema([type] + linked).definitions
  return try #require(definitions.first { $0.name == ClassReflection.name(of: type) })
}

/// A class as a new file would store it.
func storeSchema(_ type: ObjectBase.Type) throws -> ClassSchema {
  let model = try definition(of: type)
  let columns = model.properties.enumerated().map { number, column in
    ColumnSchema(
      id: ColumnID(UInt16(number)), name: column.name, type: column.type,
      isOptional: column.isOptional, isIndexed: column.isIndexed,
      target: column.target.map { _ in ClassID(0) })
  }
  let key = model.properties.firstIndex(where: \.isPrimaryKey).map { columns[$0].id }
  return ClassSchema(id: ClassID(0), name: model.name, columns: columns, primaryKey: key)
}

/// Lets objects show rows of clusters without a Realm.
final class RowStage {
  let context: UnsafeMutablePointer<tarn_context>
  private var images: [UnsafeMutableRawPointer] = []

  init() {
    context = .allocate(capacity: 1)
    context.initialize(to: tarn_context(generation: 1, thread: tarn_thread_id()))
  }

  deinit {
    context.deallocate()
    for image in images { image.deallocate() }
  }

  /// Makes the object show a row under edit.
  func show(_ object: ObjectBase, _ rows: WorkingCluster, slot: Int) {
    ClassBinding(ClassReflection.of(type(of: object)), rows.schema).bind(object)
    object._context = context
    object._generation = context.pointee.generation
    object._slot = UInt32(slot)
    object._image = tarn_cluster_empty()
    object._working = .passUnretained(rows)
    object._warmColumns = .max
  }

  /// Makes the object show a row of what the cluster encodes to.
  func showEncoded(_ object: ObjectBase, _ rows: WorkingCluster, slot: Int) throws {
    show(object, rows, slot: slot)
    object._working = nil
    let keep: WorkingCluster.EmitImage = { (_, _, bytes) throws(StorageError) in
      let copy = UnsafeMutableRawPointer.allocate(byteCount: bytes.count, alignment: 8)
      copy.copyMemory(from: bytes.baseAddress!, byteCount: bytes.count)
      object._image = UnsafeRawPointer(copy)
      self.images.append(copy)
    }
    try rows.encode(emitLong: { _, _, _ in }, emit: keep)
  }
}
